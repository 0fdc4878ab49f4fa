"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const all = (q) => Array.from(document.querySelectorAll(q));
  const root = document.documentElement;
  const nav = $("outline");
  root.classList.add("js");
  $("bar").hidden = false;
  let bar = 50; // pixels that the bar covers
  // Observed, not asked for: asking now would lay all of the page out at once.
  new ResizeObserver((sizes) => {
    bar = Math.ceil(sizes[0].borderBoxSize[0].blockSize);
    root.style.setProperty("--bar", bar + "px");
  }).observe($("bar"));
  const articles = all("#entries > section > article, #entries > section > p");

  // Outline.
  const openNav = (open) => {
    nav.classList.toggle("open", open);
    $("open-outline").setAttribute("aria-expanded", String(open));
  };
  $("open-outline").onclick = () => openNav(!nav.classList.contains("open"));
  nav.onclick = (e) => { if (e.target.closest("a")) openNav(false); };

  // Folding. A long page is opened in slices so that it never stands still.
  const fold = (button, query) => {
    const set = (open) => {
      button.setAttribute("aria-pressed", String(open));
      const list = all(query);
      let i = 0;
      const slice = () => {
        const end = performance.now() + 30;
        while (i < list.length && performance.now() < end) list[i++].open = open;
        if (i < list.length) setTimeout(slice);
      };
      slice();
    };
    button.onclick = () => set(button.getAttribute("aria-pressed") !== "true");
  };
  fold($("tools"), "details.tool");
  fold($("thoughts"), "details.thinking");
  $("theme").onclick = () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  };
  addEventListener("beforeprint", () => all("details").forEach((d) => { if (!d.open) { d.open = true; d.dataset.folded = ""; } }));
  addEventListener("afterprint", () => all("details[data-folded]").forEach((d) => { d.open = false; delete d.dataset.folded; }));

  // Moving. The current entry is the one that keys moved to, else the first in view.
  let current = -1;
  const show = (i, key) => {
    if (i < 0 || i >= articles.length) return;
    current = i;
    const a = articles[i];
    a.classList.add("at-key");
    a.addEventListener("blur", () => a.classList.remove("at-key"), { once: true });
    a.scrollIntoView({ block: "start" });
    if (key) a.focus({ preventScroll: true });
  };
  const inView = () => {
    let lo = 0, hi = articles.length;
    while (lo < hi) {
      const mid = (lo + hi) >> 1;
      if (articles[mid].getBoundingClientRect().bottom < bar + 20) lo = mid + 1; else hi = mid;
    }
    return lo;
  };
  const step = (by) => {
    const at = document.activeElement === articles[current] ? current : inView() - (by > 0 ? 1 : 0);
    let i = at + by;
    while (articles[i] && articles[i].localName !== "article") i += by;
    show(i, true);
  };

  // Finding, in slices too.
  let hits = [], at = -1, run = 0, timer = 0;
  const say = (text) => { $("hits").textContent = text; };
  const clear = () => {
    if (CSS.highlights) CSS.highlights.delete("hit");
    all(".hit").forEach((e) => e.classList.remove("hit"));
  };
  const find = (want) => {
    const mine = ++run;
    clear();
    hits = []; at = -1;
    want = want.trim().toLowerCase();
    if (!want) { say(""); return; }
    let i = 0;
    const slice = () => {
      if (mine !== run) return;
      const end = performance.now() + 30;
      for (; i < articles.length && performance.now() < end; i++)
        if (articles[i].textContent.toLowerCase().includes(want)) hits.push(i);
      if (i < articles.length) { say("…"); setTimeout(slice); return; }
      if (hits.length) go(0, want); else say("nothing");
    };
    slice();
  };
  const mark = (a, want) => {
    const walk = document.createTreeWalker(a, NodeFilter.SHOW_TEXT);
    const ranges = [];
    for (let n; ranges.length < 500 && (n = walk.nextNode());) {
      const text = n.data.toLowerCase();
      for (let p = text.indexOf(want); p >= 0 && ranges.length < 500; p = text.indexOf(want, p + want.length)) {
        if (p + want.length > n.length) break;
        const r = new Range();
        r.setStart(n, p); r.setEnd(n, p + want.length);
        ranges.push(r);
      }
    }
    for (const r of ranges)
      for (let d = r.startContainer.parentElement.closest("details"); d; d = d.parentElement.closest("details")) d.open = true;
    if (CSS.highlights && ranges.length) CSS.highlights.set("hit", new Highlight(...ranges));
    else a.classList.add("hit");
    return ranges[0];
  };
  const go = (k, want) => {
    if (!hits.length) return;
    clear();
    at = (k + hits.length) % hits.length;
    say((at + 1) + " of " + hits.length);
    current = hits[at];
    const a = articles[current];
    a.scrollIntoView({ block: "start" });
    const first = mark(a, want || $("find").value.trim().toLowerCase());
    if (first) requestAnimationFrame(() => {
      const box = first.getBoundingClientRect();
      if (box.top < bar || box.bottom > innerHeight) first.startContainer.parentElement.scrollIntoView({ block: "center" });
    });
  };
  $("find").oninput = () => { clearTimeout(timer); timer = setTimeout(() => find($("find").value), 150); };
  $("next").onclick = () => go(at + 1);
  $("prev").onclick = () => go(at - 1);

  addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName);
    if (typing) {
      if (e.key === "Escape") { e.target.value = ""; find(""); e.target.blur(); }
      if (e.key === "Enter") go(at + (e.shiftKey ? -1 : 1));
      return;
    }
    const does = { j: () => step(1), k: () => step(-1), "/": () => { $("find").focus(); $("find").select(); }, n: () => go(at + 1), N: () => go(at - 1),
      t: () => $("tools").click(), h: () => $("thoughts").click(), d: () => $("theme").click() }[e.key];
    if (does) { e.preventDefault(); does(); }
  });
})();
