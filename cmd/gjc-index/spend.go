package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // zones by name where the system has none

	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/index"
)

type usageFlags struct {
	by, since, tz string
	csv           bool
}

// usageGroups are what usage can be grouped by.
var usageGroups = []string{"day", "model", "provider", "project", "session"}

func (a *app) usageCommand() *cobra.Command {
	var f usageFlags
	cmd := &cobra.Command{
		Use:   "usage",
		Short: "Sum up what all sessions have used, in tokens and money",
		Long: `Sum up what the requests of all sessions have used. An answer that stands in
several sessions, since one was forked from or copied to another, counts once,
for the oldest. A request that was cut off counts with what is known of it and
is told as incomplete; one whose price is not known is told as unpriced and not
taken as free.`,
		Example: `  gjc-index usage
  gjc-index usage --by day --since 30d
  gjc-index usage --by model --json
  gjc-index usage --by project --csv > usage.csv`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.usage(cmd, f) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.by, "by", "", "a row for each `GROUP`: day, model, provider, project or session")
	fl.StringVar(&f.since, "since", "", "from `T` on: a day, a time, or an age such as 7d or 12h")
	fl.StringVar(&f.tz, "tz", "", "days and times in `ZONE`, such as Europe/Berlin or UTC (default: the setting usage.tz, else this machine's)")
	fl.BoolVar(&f.csv, "csv", false, "print comma-separated values, the names first")
	complete(cmd, "by", usageGroups...)
	return cmd
}

func (a *app) usage(cmd *cobra.Command, f usageFlags) error {
	filter, err := a.usageFilter(cmd, f)
	if err != nil {
		return err
	}
	return a.withIndex(cmd.Context(), func(x *index.Index) error {
		rows, err := x.Usage(cmd.Context(), filter)
		if err != nil {
			return err
		}
		switch {
		case a.json:
			err = a.usageJSON(f.by, rows)
		case f.csv:
			err = a.usageCSV(f.by, rows)
		default:
			err = a.usageTable(cmd.Context(), x, f.by, rows)
		}
		if err != nil {
			return err
		}
		bad, err := a.badFiles(cmd.Context(), x)
		if err == nil {
			a.sayLeftOut(bad)
		}
		return err
	})
}

func (a *app) usageFilter(cmd *cobra.Command, f usageFlags) (index.UsageFilter, error) {
	out := index.UsageFilter{By: index.UsageBy(f.by), Zone: a.now().Location()}
	given := cmd.Flags().Changed
	if given("by") && !slices.Contains(usageGroups, f.by) {
		return out, usagef("can't group by %q: %s", f.by, strings.Join(usageGroups, ", "))
	}
	if f.csv && a.json {
		return out, usagef("--csv and --json: choose one")
	}
	if given("tz") {
		zone, err := time.LoadLocation(f.tz)
		if err != nil || f.tz == "" {
			return out, usagef("--tz %q is no time zone: give a name such as Europe/Berlin, or UTC", f.tz)
		}
		out.Zone = zone
	} else if set, err := a.settings(); err != nil {
		return out, err
	} else if set.Zone != nil {
		out.Zone = set.Zone
	}
	since, err := parseWhen(f.since, a.now().In(out.Zone))
	out.Since = since
	return out, err
}

// usageNumbers are the sums of a row; fields are only ever added.
type usageNumbers struct {
	Input           float64  `json:"input"`
	Output          float64  `json:"output"`
	CacheRead       float64  `json:"cacheRead"`
	CacheWrite      float64  `json:"cacheWrite"`
	Cost            *float64 `json:"cost"` // of the known prices; null: none is known
	Unpriced        int64    `json:"unpriced"`
	Requests        int64    `json:"requests"`
	Incomplete      int64    `json:"incomplete"`
	PremiumRequests float64  `json:"premiumRequests"`
}

func numbersOf(r index.UsageRow) usageNumbers {
	return usageNumbers{r.Input, r.Output, r.CacheRead, r.CacheWrite, r.Cost, r.Unpriced, r.Requests, r.Incomplete, r.Premium}
}

func (a *app) usageJSON(by string, rows []index.UsageRow) error {
	for _, r := range rows {
		group := ""
		if by != "" {
			key, err := encodeJSON(r.Key)
			if err != nil {
				return err
			}
			group = `"` + by + `":` + strings.TrimSpace(key) + ","
		}
		numbers, err := encodeJSON(numbersOf(r))
		if err != nil {
			return err
		}
		line := "{" + group + strings.TrimPrefix(strings.TrimSpace(numbers), "{")
		if err := a.printRaw([]byte(line)); err != nil {
			return err
		}
	}
	return nil
}

var usageNames = []string{"input", "output", "cacheRead", "cacheWrite", "cost", "unpriced", "requests", "incomplete", "premiumRequests"}

func (a *app) usageCSV(by string, rows []index.UsageRow) error {
	w := csv.NewWriter(a.out)
	head := usageNames
	if by != "" {
		head = append([]string{by}, usageNames...)
	}
	_ = w.Write(head) // Flush tells of errors
	for _, r := range rows {
		n := numbersOf(r)
		cost := ""
		if n.Cost != nil {
			cost = number(*n.Cost)
		}
		cells := []string{number(n.Input), number(n.Output), number(n.CacheRead), number(n.CacheWrite), cost,
			strconv.FormatInt(n.Unpriced, 10), strconv.FormatInt(n.Requests, 10), strconv.FormatInt(n.Incomplete, 10), number(n.PremiumRequests)}
		if by != "" {
			cells = append([]string{safeCell(r.Key)}, cells...)
		}
		_ = w.Write(cells)
	}
	w.Flush()
	return w.Error()
}

// safeCell keeps a spreadsheet from taking a name for a formula.
func safeCell(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return "'" + text
	}
	return text
}

// number is a number without an exponent.
func number(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// usageLine is a row of the table.
type usageLine struct {
	key   string
	cells []string
	size  float64 // of the bar
}

func (a *app) usageTable(ctx context.Context, x *index.Index, by string, rows []index.UsageRow) error {
	head := usageLine{key: by, cells: []string{"input", "output", "cache read", "cache write", "cost", "requests"}}
	lines := []usageLine{head}
	var titles map[string]string
	if by == "session" {
		var err error
		if titles, err = titlesOf(ctx, x); err != nil {
			return err
		}
	}
	priced := slices.ContainsFunc(rows, func(r index.UsageRow) bool { return r.Cost != nil })
	for _, r := range rows {
		l := usageLine{key: preview(keyWords(by, r, titles), 40), cells: cellsOf(r), size: r.Input + r.Output}
		if priced {
			l.size = 0
			if r.Cost != nil {
				l.size = *r.Cost
			}
		}
		lines = append(lines, l)
	}
	a.printUsage(by, lines)
	return nil
}

func keyWords(by string, r index.UsageRow, titles map[string]string) string {
	switch {
	case by == "session":
		return beginning(r.Key, 8) + "  " + titles[r.Path]
	case by == "project" && r.Key != "":
		return r.Key
	case r.Key == "" && by != "":
		return "(unknown)"
	}
	return r.Key
}

// titlesOf maps session files to what their sessions are called.
func titlesOf(ctx context.Context, x *index.Index) (map[string]string, error) {
	rows, _, err := x.Sessions(ctx, index.Filter{Children: true})
	if err != nil {
		return nil, err
	}
	titles := map[string]string{}
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		titles[row.Path] = titleOf(row)
	}
	return titles, nil
}

func cellsOf(r index.UsageRow) []string {
	cost := "?"
	if r.Cost != nil {
		cost = "$" + strconv.FormatFloat(*r.Cost, 'f', 2, 64)
		if r.Unpriced > 0 {
			cost += "+?"
		}
	}
	if r.Requests == 0 {
		cost = "-"
	}
	requests := comma(r.Requests)
	if r.Incomplete > 0 {
		requests += fmt.Sprintf(" (%s incomplete)", comma(r.Incomplete))
	}
	return []string{comma(int64(r.Input)), comma(int64(r.Output)), comma(int64(r.CacheRead)), comma(int64(r.CacheWrite)), cost, requests}
}

// barWidth is the columns of the longest bar.
const barWidth = 20

func (a *app) printUsage(by string, lines []usageLine) {
	width, keyWidth := make([]int, len(lines[0].cells)), 0
	most := 0.0
	for _, l := range lines {
		keyWidth = max(keyWidth, uniseg.StringWidth(l.key))
		most = max(most, l.size)
		for i, c := range l.cells {
			width[i] = max(width[i], len(c))
		}
	}
	for n, l := range lines {
		var out []string
		if by != "" {
			out = append(out, pad(l.key, keyWidth))
		}
		for i, c := range l.cells {
			out = append(out, padLeft(c, width[i]))
		}
		text := strings.Join(out, "  ")
		if by != "" && n > 0 && most > 0 && a.screen.terminal {
			text += "  " + a.screen.paint(cyan, bar(l.size/most))
		}
		if n == 0 {
			text = a.screen.paint(dim, text)
		}
		a.printf("%s\n", strings.TrimRight(text, " "))
	}
}

// bar is a bar of a part of barWidth columns, to an eighth of one.
func bar(part float64) string {
	eighths := int(part*barWidth*8 + 0.5)
	text := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		text += string([]rune("▏▎▍▌▋▊▉")[rest-1])
	}
	return text
}
