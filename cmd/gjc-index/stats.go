package main

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/index"
)

type statsFlags struct {
	project, since, tz, html string
	limit                    int
	force                    bool
}

// defaultStats is how many projects, models, tools and days stats shows.
const defaultStats = 12

func (a *app) statsCommand() *cobra.Command {
	var f statsFlags
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Show when you ask, in which projects, and which models and tools answer",
		Long: `Show when you ask (by the hour and the day of the week, and the last days), in
which projects, which models answer, and which tools they use. A prompt, an
answer or a tool's result that several sessions hold, since one was forked from
another, counts once. Prompts are those of sessions that are no subagent's;
models and tools are those of subagents too.

--html writes a page with charts that needs nothing else, by the rules of
export: a file that is there is not replaced without --force.

With --json one object: zone, since (RFC 3339 or null), prompts, sessions (in
which something was asked), hours (24 numbers of prompts), weekdays (7, Monday
first), grid (7 times 24), days ([{day, prompts}], days without left out),
projects ([{project, prompts, sessions}]), models ([{model, requests, input,
output, cacheRead, cacheWrite, cost}], tokens and dollars), tools ([{tool,
results}]); projectCount, modelCount and toolCount say how many there are
without --limit; html (the page's path, with --html).`,
		Example: `  gjc-index stats
  gjc-index stats --since 30d --project .
  gjc-index stats --html stats.html
  gjc-index stats --json | jq .hours`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.stats(cmd, f) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.project, "project", "", "only from the project of `DIR`, all its worktrees counted")
	fl.StringVar(&f.since, "since", "", "from `T` on: a day, a time, or an age such as 7d or 12h")
	fl.StringVar(&f.tz, "tz", "", "hours and days in `ZONE`, such as Europe/Berlin or UTC (default: this machine's)")
	fl.IntVar(&f.limit, "limit", defaultStats, "at most `N` projects, models and tools")
	fl.StringVar(&f.html, "html", "", "write a page with charts to `FILE`; - is stdout")
	fl.BoolVar(&f.force, "force", false, "replace a file that is there")
	return cmd
}

// toldStats is what stats shows, and how.
type toldStats struct {
	index.Stats
	zone  *time.Location
	since time.Time
	now   time.Time
	most  int // projects, models, tools
}

func (a *app) stats(cmd *cobra.Command, f statsFlags) error {
	if err := checkLimits(cmd, f.limit, 0); err != nil {
		return err
	}
	switch {
	case cmd.Flags().Changed("html") && f.html == "":
		return usagef("--html is empty: give it a value or leave it out")
	case f.html == "-" && a.json:
		return usagef("--html - and --json both want stdout: choose one")
	}
	zone, since, err := a.zoneAndSince(cmd, f.tz, f.since)
	if err != nil {
		return err
	}
	p, err := a.place(scopeFlags{project: f.project})
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	return a.withIndex(ctx, func(x *index.Index) error {
		got, err := x.Stats(ctx, index.StatsFilter{Project: p.project, Since: since, Zone: zone})
		if err != nil {
			return err
		}
		s := toldStats{Stats: got, zone: zone, since: since, now: a.now(), most: f.limit}
		page := ""
		if f.html != "" {
			e := exporting{app: a, x: x, f: exportFlags{force: f.force}}
			if page, err = e.save(ctx, f.html, "", "", func(w io.Writer) error { return writeStatsPage(w, s) }); err != nil {
				return err
			}
		}
		if err := a.tellStats(s, f.html, page); err != nil {
			return err
		}
		return a.sayUncounted(ctx, x, got.Failed)
	})
}

func (a *app) tellStats(s toldStats, html, page string) error {
	switch {
	case a.json:
		return a.printJSON(statsOf(s, page))
	case html == "-":
		return nil
	case page != "":
		a.printf("%s\n", plain(page))
		return nil
	}
	a.printStats(s)
	return nil
}

// sayUncounted says which files were left out.
func (a *app) sayUncounted(ctx context.Context, x *index.Index, failed []index.Failure) error {
	bad, err := a.badFiles(ctx, x)
	if err != nil {
		return err
	}
	for _, f := range failed {
		if !slices.ContainsFunc(bad, func(b leftOutFile) bool { return b.Path == f.Path }) {
			bad = append(bad, leftOutFile{f.Path, f.Reason, index.StateUnreadable})
		}
	}
	a.sayLeftOut(bad)
	return nil
}

var weekdays = [7]string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}

// byHour and byWeekday are the sums of the grid.
func (s toldStats) byHour() (hours [24]int) {
	for _, day := range s.Hours {
		for h, n := range day {
			hours[h] += n
		}
	}
	return hours
}

func (s toldStats) byWeekday() (days [7]int) {
	for d := range s.Hours {
		for _, n := range s.Hours[d] {
			days[d] += n
		}
	}
	return days
}

// when says which time was counted.
func (s toldStats) when() string {
	if s.since.IsZero() {
		return "times in " + zoneName(s.zone, s.now)
	}
	return "since " + s.since.In(s.zone).Format("2006-01-02 15:04") + ", times in " + zoneName(s.zone, s.now)
}

// zoneName is a zone's name; of the machine's own the one in use now.
func zoneName(zone *time.Location, now time.Time) string {
	if zone.String() == "Local" {
		name, _ := now.In(zone).Zone()
		return name
	}
	return zone.String()
}

func (a *app) printStats(s toldStats) {
	a.printf("%s\n", a.screen.paint(bold, count(s.Prompts, "prompt")+" in "+count(s.Sessions, "session"))+a.screen.paint(dim, "  "+s.when()))
	if s.Prompts > 0 {
		a.printHours(s)
		var days []statLine
		for _, d := range s.Days[max(0, len(s.Days)-s.most):] {
			days = append(days, statLine{d.Name, comma(d.Count), float64(d.Count)})
		}
		a.printBars("day", "prompts", days, len(s.Days))
		var projects []statLine
		for _, p := range firstOf(s.Projects, s.most) {
			projects = append(projects, statLine{projectName(p.Project), comma(p.Prompts), float64(p.Prompts)})
		}
		a.printBars("project", "prompts", projects, len(s.Projects))
	}
	var models, tools []statLine
	for _, m := range firstOf(s.Models, s.most) {
		models = append(models, statLine{nameOr(m.Key), comma(m.Requests), float64(m.Requests)})
	}
	a.printBars("model", "requests", models, len(s.Models))
	for _, t := range firstOf(s.Tools, s.most) {
		tools = append(tools, statLine{t.Name, comma(t.Count), float64(t.Count)})
	}
	a.printBars("tool", "results", tools, len(s.Tools))
}

// firstOf are the first n of a list, or all.
func firstOf[T any](list []T, n int) []T { return list[:min(n, len(list))] }

func nameOr(name string) string {
	if name == "" {
		return "(unknown)"
	}
	return name
}

func projectName(dir string) string {
	if dir == "" {
		return "(none)"
	}
	return dir
}

// printHours prints a line a day of the week, a column an hour.
func (a *app) printHours(s toldStats) {
	most := 0
	for _, day := range s.Hours {
		most = max(most, slices.Max(day[:]))
	}
	hours := s.byHour()
	days := s.byWeekday()
	rule := "0     6     12    18    "
	a.printf("\n%s\n", a.screen.paint(dim, "hour  "+rule+"  prompts"))
	for d, name := range weekdays {
		a.printf("%s   %s  %s\n", name, a.screen.paint(cyan, spark(s.Hours[d][:], most)), padLeft(comma(days[d]), 7))
	}
	a.printf("%s   %s  %s\n", "all", a.screen.paint(cyan, spark(hours[:], slices.Max(hours[:]))), padLeft(comma(s.Prompts), 7))
}

// spark draws numbers as columns, an eighth of a line the least; a dot is none.
func spark(numbers []int, most int) string {
	var b strings.Builder
	for _, n := range numbers {
		if n <= 0 || most <= 0 {
			b.WriteRune('·')
			continue
		}
		b.WriteRune([]rune("▁▂▃▄▅▆▇█")[min(7, (n*8-1)/most)])
	}
	return b.String()
}

// statLine is a name with a number and its bar.
type statLine struct {
	name, number string
	size         float64
}

// printBars prints names with bars; all is how many names there are.
func (a *app) printBars(head, what string, lines []statLine, all int) {
	if len(lines) == 0 {
		return
	}
	nameWidth, numberWidth, most := uniseg.StringWidth(head), len(what), 0.0
	for i := range lines {
		lines[i].name = preview(lines[i].name, max(minWidth, a.screen.width-barWidth-14))
		nameWidth, numberWidth = max(nameWidth, uniseg.StringWidth(lines[i].name)), max(numberWidth, len(lines[i].number))
		most = max(most, lines[i].size)
	}
	more := ""
	if all > len(lines) {
		more = "  " + comma(len(lines)) + " of " + comma(all)
	}
	a.printf("\n%s\n", a.screen.paint(dim, pad(head, nameWidth)+"  "+padLeft(what, numberWidth)+more))
	for _, l := range lines {
		line := pad(l.name, nameWidth) + "  " + padLeft(l.number, numberWidth)
		if most > 0 && l.size > 0 {
			line += "  " + a.screen.paint(cyan, bar(max(l.size/most, 1.0/(8*barWidth))))
		}
		a.printf("%s\n", line)
	}
}
