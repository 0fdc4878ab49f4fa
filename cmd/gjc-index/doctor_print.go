package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/session"
)

// areas are the headings under which findings are told to a person, in order,
// and the checks of each. A check that is not here stands under the last.
var areas = []struct {
	title  string
	checks []string
}{
	{"Home", []string{"home", "network", "space", "modes", "sequence", "trash"}},
	{"Workspaces", []string{"sessions", "binding", "workspace", "directory", "deletions"}},
	{"Sessions", []string{"session", "lines", "torn", "header", "tree", "strict", "version", "size", "read", "refused", "moved", "twice", "repaired", "backup"}},
	{"Images", []string{"blobs"}},
	{"Index and history", []string{"index", "history"}},
	{"Beside the sessions", []string{"sidecars", "archive", "orphan", "leftover"}},
}

// maxTold is how many findings of one area are told to a person.
const maxTold = 100

// ward gathers findings: with --json each is printed as it comes, for people
// they are told by area at the end.
type ward struct {
	app     *app
	verbose bool
	bar     *buildBar

	told    [][]session.Finding // by area
	more    []int               // by area: findings beyond maxTold
	counts  map[session.Health]int
	fixed   int
	fixable int
	looked  int
}

func areaOf(check string) int {
	for i, area := range areas {
		if slices.Contains(area.checks, check) {
			return i
		}
	}
	return len(areas) - 1
}

func (w *ward) take(f session.Finding) error {
	if w.counts == nil {
		w.counts = map[session.Health]int{}
		w.told, w.more = make([][]session.Finding, len(areas)), make([]int, len(areas))
	}
	switch {
	case f.Fixed:
		w.fixed++
	default:
		w.counts[f.State]++
	}
	if f.State == session.HealthBad && !f.Fixed {
		w.app.leftOut++
	}
	if f.Fix == fixCommand {
		w.fixable++
	}
	if w.app.json {
		return w.app.printJSON(findingJSON{f.Check, string(f.State), f.Path, f.Detail, orNull(f.Fix), f.Fixed})
	}
	if f.State == session.HealthOK && !w.verbose {
		return nil
	}
	area := areaOf(f.Check)
	if len(w.told[area]) == maxTold && !w.verbose {
		w.more[area]++
		return nil
	}
	w.told[area] = append(w.told[area], f)
	return nil
}

// fixCommand is what a finding says that --fix mends.
const fixCommand = "gjc-index doctor --fix"

// looksAt shows on a terminal that something is going on.
func (w *ward) looksAt(string) {
	w.looked++
	w.bar.count(w.looked)
}

// sum tells a person what was found.
func (w *ward) sum(fix bool) error {
	a := w.app
	if a.json {
		return nil
	}
	home, err := a.homeDir()
	if err != nil {
		return err
	}
	for i, area := range areas {
		if w.told == nil || len(w.told[i]) == 0 {
			continue
		}
		a.printf("%s\n", a.screen.paint(bold, area.title))
		w.list(w.told[i], home.Dir())
		if w.more[i] > 0 {
			a.printf("  and %s; --json has all\n", count(w.more[i], "more finding"))
		}
		a.printf("\n")
	}
	a.printf("%s\n", w.closing(fix))
	return nil
}

// list tells findings, those of a directory together and those of a file as one.
func (w *ward) list(all []session.Finding, home string) {
	a := w.app
	slices.SortStableFunc(all, func(x, y session.Finding) int {
		return cmp.Compare(filepath.Dir(x.Path), filepath.Dir(y.Path))
	})
	dir := home
	for i, f := range all {
		if in := filepath.Dir(f.Path); in != dir && in != filepath.Dir(home) {
			dir = in
			a.printf("  %s\n", a.screen.paint(dim, "in "+plain(within(home, dir))+w.workspace(dir)))
		}
		if i == 0 || all[i-1].Path != f.Path || all[i-1].Fixed != f.Fixed {
			w.print(f)
		} else {
			a.printf("        %s\n", plain(f.Detail))
		}
		if f.Fix != "" && (i+1 == len(all) || all[i+1].Path != f.Path || all[i+1].Fix != f.Fix) {
			a.printf("        %s %s\n", a.screen.paint(dim, "→"), plain(f.Fix))
		}
	}
}

// within is a path as it is called in the home.
func within(home, path string) string {
	if rel, err := filepath.Rel(home, path); err == nil && !strings.HasPrefix(rel, "..") && rel != "." {
		return rel
	}
	return path
}

// workspace says whose a directory is, in brackets; "" if nothing says it.
func (w *ward) workspace(dir string) string {
	if cwd := scope.BoundTo(w.app.fsys, dir); cwd != "" {
		return " (" + plain(cwd) + ")"
	}
	return ""
}

func (w *ward) print(f session.Finding) {
	a := w.app
	state, colour := string(f.State), dim
	switch {
	case f.Fixed:
		state, colour = "fixed", cyan
	case f.State == session.HealthBad:
		colour = red
	}
	a.printf("  %s %s\n        %s\n", a.screen.paint(colour, pad(state, 5)), plain(filepath.Base(f.Path)), plain(f.Detail))
}

func (w *ward) closing(fix bool) string {
	bad, warn, well := w.counts[session.HealthBad], w.counts[session.HealthWarn], w.counts[session.HealthOK]
	var parts []string
	if w.fixed > 0 {
		parts = append(parts, comma(w.fixed)+" mended")
	}
	if bad > 0 {
		parts = append(parts, comma(bad)+" bad")
	}
	if warn > 0 {
		parts = append(parts, count(warn, "warning"))
	}
	if len(parts) == 0 {
		return "all is well: " + count(well, "check")
	}
	text := strings.Join(parts, ", ") + "; " + comma(well) + " well"
	if !fix && w.fixable > 0 {
		text += fmt.Sprintf(". gjc-index doctor --fix mends %d of them, and loses nothing", w.fixable)
	}
	return text
}
