package main

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"slices"
	"strconv"
	"time"
)

//go:embed stats.css
var statsStyle string

// statsPolicy lets the page show itself and load or run nothing.
func statsPolicy() string {
	sum := sha256.Sum256([]byte(statsStyle))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
}

// writeStatsPage writes a page that needs nothing else: charts are drawn in it.
func writeStatsPage(out io.Writer, s toldStats) error {
	w := bufio.NewWriter(out)
	fmt.Fprintf(w, `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="%s">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer">
<title>Sessions in numbers</title>
<style>%s</style></head>
<body>
<h1>%s in %s</h1>
<p>%s; made %s by gjc-index stats</p>
`, statsPolicy(), statsStyle, count(s.Prompts, "prompt"), count(s.Sessions, "session"), html.EscapeString(s.when()),
		s.now.In(s.zone).Format("2006-01-02 15:04"))
	if s.Prompts > 0 {
		hourGrid(w, s)
		dayChart(w, s)
	}
	var rows []pageRow
	for _, p := range firstOf(s.Projects, s.most) {
		rows = append(rows, pageRow{projectName(p.Project), []string{comma(p.Sessions), comma(p.Prompts)}, float64(p.Prompts)})
	}
	pageTable(w, "Projects", []string{"project", "sessions", "prompts"}, rows, len(s.Projects))
	rows = nil
	for _, m := range firstOf(s.Models, s.most) {
		cells := cellsOf(m)
		rows = append(rows, pageRow{nameOr(m.Key), []string{cells[0], cells[1], cells[4], comma(m.Requests)}, float64(m.Requests)})
	}
	pageTable(w, "Models", []string{"model", "input", "output", "cost", "requests"}, rows, len(s.Models))
	rows = nil
	for _, t := range firstOf(s.Tools, s.most) {
		rows = append(rows, pageRow{t.Name, []string{comma(t.Count)}, float64(t.Count)})
	}
	pageTable(w, "Tools", []string{"tool", "results"}, rows, len(s.Tools))
	fmt.Fprint(w, "</body></html>\n")
	return w.Flush()
}

// hourGrid draws a square for each hour of the week, as large as its share.
func hourGrid(w io.Writer, s toldStats) {
	const cell, left, top = 24, 36, 18
	most := 1
	for _, day := range s.Hours {
		most = max(most, slices.Max(day[:]))
	}
	fmt.Fprintf(w, "<h2>Hours of the week</h2>\n<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Prompts by hour and day of the week\">\n",
		left+24*cell, top+7*cell)
	for h := 0; h < 24; h += 3 {
		fmt.Fprintf(w, "<text x=\"%d\" y=\"12\">%02d</text>\n", left+h*cell+4, h)
	}
	for d, name := range weekdays {
		fmt.Fprintf(w, "<text x=\"0\" y=\"%d\">%s</text>\n", top+d*cell+16, name)
		for h, n := range s.Hours[d] {
			class, size := ` class="none"`, 3.0
			if n > 0 {
				class, size = "", 5+float64(cell-7)*float64(n)/float64(most)
			}
			fmt.Fprintf(w, "<rect%s x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\" rx=\"2\"><title>%s %02d:00: %s</title></rect>\n", class,
				short(float64(left+h*cell)+(cell-size)/2), short(float64(top+d*cell)+(cell-size)/2), short(size), short(size), name, h, count(n, "prompt"))
		}
	}
	fmt.Fprint(w, "</svg>\n")
}

// mostDays is how many days the chart of days shows at most: the last ones.
const mostDays = 366

// dayChart draws a bar for each day from the first to the last.
func dayChart(w io.Writer, s toldStats) {
	const width, height = 720, 120
	last, err := time.Parse(time.DateOnly, s.Days[len(s.Days)-1].Name)
	first, ferr := time.Parse(time.DateOnly, s.Days[0].Name)
	if err != nil || ferr != nil {
		return // a year of more than four digits
	}
	if from := last.AddDate(0, 0, 1-mostDays); first.Before(from) {
		first = from
	}
	counts, most := map[string]int{}, 1
	for _, d := range s.Days {
		counts[d.Name] = d.Count
		if d.Name >= first.Format(time.DateOnly) {
			most = max(most, d.Count)
		}
	}
	days := int(last.Sub(first).Hours()/24) + 1
	step := min(24, float64(width)/float64(days))
	fmt.Fprintf(w, "<h2>Days</h2>\n<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Prompts by day\">\n", width, height+20)
	fmt.Fprintf(w, "<line class=\"axis\" x1=\"0\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>\n", height, width, height)
	for i := range days {
		day := first.AddDate(0, 0, i).Format(time.DateOnly)
		if n := counts[day]; n > 0 {
			h := max(1, float64(height-10)*float64(n)/float64(most))
			fmt.Fprintf(w, "<rect x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\"><title>%s: %s</title></rect>\n", short(float64(i)*step),
				short(height-h), short(max(0.5, step*0.85)), short(h), day, count(n, "prompt"))
		}
	}
	fmt.Fprintf(w, "<text x=\"0\" y=\"%d\">%s</text>\n", height+15, first.Format(time.DateOnly))
	if days > 1 {
		fmt.Fprintf(w, "<text x=\"%s\" y=\"%d\" text-anchor=\"end\">%s</text>\n", short(max(140, float64(days)*step)), height+15, last.Format(time.DateOnly))
	}
	fmt.Fprint(w, "</svg>\n")
}

// pageRow is a row of a table of the page.
type pageRow struct {
	name  string
	cells []string
	size  float64
}

// pageTable writes rows with bars; all is how many there are.
func pageTable(w io.Writer, title string, heads []string, rows []pageRow, all int) {
	if len(rows) == 0 {
		return
	}
	most := 1.0
	for _, r := range rows {
		most = max(most, r.size)
	}
	more := ""
	if all > len(rows) {
		more = " (" + comma(len(rows)) + " of " + comma(all) + ")"
	}
	fmt.Fprintf(w, "<h2>%s%s</h2>\n<table><tr>", title, more)
	for i, h := range heads {
		class := ""
		if i > 0 {
			class = ` class="n"`
		}
		fmt.Fprintf(w, "<th%s>%s</th>", class, h)
	}
	fmt.Fprint(w, "<th></th></tr>\n")
	for _, r := range rows {
		fmt.Fprintf(w, "<tr><td>%s</td>", html.EscapeString(preview(r.name, maxWidth)))
		for _, c := range r.cells {
			fmt.Fprintf(w, "<td class=\"n\">%s</td>", html.EscapeString(c))
		}
		fmt.Fprintf(w, "<td class=\"b\"><svg viewBox=\"0 0 100 8\" preserveAspectRatio=\"none\" aria-hidden=\"true\"><rect width=\"%s\" height=\"8\"/></svg></td></tr>\n",
			short(100*r.size/most))
	}
	fmt.Fprint(w, "</table>\n")
}

// short is a number with at most two digits after the point.
func short(n float64) string { return strconv.FormatFloat(float64(int(n*100+0.5))/100, 'f', -1, 64) }
