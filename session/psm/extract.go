package psm

import (
	"context"
	"slices"
	"strings"
	"unicode"
)

// Summarizer sums units up. It answers one text for each unit, in order, none
// of them empty. It may take its time, within ctx.
type Summarizer interface {
	Name() string
	Summarize(ctx context.Context, units []Unit) ([]string, error)
}

// Extract is a Summarizer that needs no model and no network: it picks the
// sentences that carry what was asked, decided and found, the files that were
// changed and the errors.
type Extract struct{}

// Name is "extract".
func (Extract) Name() string { return "extract" }

// Summarize picks.
func (Extract) Summarize(ctx context.Context, units []Unit) ([]string, error) {
	texts := make([]string, len(units))
	for i, u := range units {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		texts[i] = extract(u)
	}
	return texts, nil
}

const (
	askedSentences = 2
	saidSentences  = 4
	maxSentence    = 300 // bytes
	maxFiles       = 12
	maxErrors      = 3
)

func extract(u Unit) string {
	var asked, said, errs, files []string
	for _, in := range u.Inputs {
		switch in.Role {
		case "user":
			asked = append(asked, sentences(in.Text)...)
		case "assistant":
			said = append(said, sentences(in.Text)...)
		default:
			if in.Error {
				errs = append(errs, errorLine(in.Text))
			}
			for _, c := range in.Changes {
				if !slices.Contains(files, c.Path) {
					files = append(files, c.Path)
				}
			}
		}
	}
	var lines []string
	add := func(word string, parts []string, sep string) {
		parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
		if len(parts) > 0 {
			lines = append(lines, word+": "+strings.Join(parts, sep))
		}
	}
	add("Asked", best(asked, askedSentences), " ")
	add("Answer", best(said, saidSentences), " ")
	if len(files) > maxFiles {
		files = append(files[:maxFiles:maxFiles], "…")
	}
	add("Files", files, ", ")
	add("Errors", errs[:min(len(errs), maxErrors)], " | ")
	if len(lines) == 0 {
		return "Nothing was said."
	}
	return strings.Join(lines, "\n")
}

// sentences are the sentences of a text; blocks of code are none.
func sentences(text string) []string {
	var out []string
	code := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
			code = !code
			continue
		}
		if code || line == "" || strings.HasPrefix(line, "|") {
			continue
		}
		line = strings.TrimLeft(line, "#>*- ")
		start := 0
		runes := []rune(line)
		for i, r := range runes {
			wide := strings.ContainsRune("。！？", r)
			if wide || strings.ContainsRune(".!?", r) && i+1 < len(runes) && unicode.IsSpace(runes[i+1]) {
				out = append(out, strings.TrimSpace(string(runes[start:i+1])))
				start = i + 1
			}
		}
		out = append(out, strings.TrimSpace(string(runes[start:])))
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

// telling are the beginnings of words that sentences worth keeping have.
var telling = [...]string{"decid", "instead", "because", "fix", "fail", "error", "bug", "must", "should", "chang", "remov", "add", "creat",
	"implement", "test", "now ", "cause", "root", "problem", "done", "pass", "result", "wrong", "need", "found", "turns out"}

// best are the n sentences that say most, in their own order.
func best(all []string, n int) []string {
	type scored struct{ at, score int }
	list := make([]scored, len(all))
	for i, s := range all {
		low := strings.ToLower(s)
		score := 0
		for _, word := range telling {
			if strings.Contains(low, word) {
				score += 2
			}
		}
		if strings.ContainsAny(s, "`/") {
			score += 2
		}
		if i == 0 || i == len(all)-1 {
			score += 3
		}
		if len(s) < 12 {
			score -= 2
		}
		list[i] = scored{i, score}
	}
	slices.SortStableFunc(list, func(a, b scored) int { return b.score - a.score })
	list = list[:min(n, len(list))]
	slices.SortFunc(list, func(a, b scored) int { return a.at - b.at })
	var out []string
	for _, s := range list {
		text := all[s.at]
		if len(text) > maxSentence {
			text = cut(text, maxSentence) + "…"
		}
		out = append(out, text)
	}
	return out
}

// errorLine is the line of a failed result that says why.
func errorLine(text string) string {
	first := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if first == "" {
			first = line
		}
		low := strings.ToLower(line)
		if strings.Contains(low, "error") || strings.Contains(low, "fail") || strings.Contains(low, "panic") {
			return cut(line, maxSentence)
		}
	}
	return cut(first, maxSentence)
}
