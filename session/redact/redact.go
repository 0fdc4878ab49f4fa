package redact

import (
	"cmp"
	"slices"
	"strings"
)

// Mark stands where a secret was.
const Mark = "[redacted]"

// Finding is a secret in a text.
type Finding struct {
	Rule       string // such as "github-token"
	Start, End int    // bytes of the text
}

// Text is s without its secrets; s itself if there are none. It has the form
// of a jsonl.Redactor. Text of Text is Text. Safe for several goroutines.
func Text(s string) string {
	s, _ = Count(s)
	return s
}

// maxRounds bounds how often a text is gone over: what stands around a mark
// can look like a secret once another one is gone.
const maxRounds = 16

// Count is Text, and how many secrets were replaced.
func Count(s string) (text string, secrets int) {
	for range maxRounds {
		found := Find(s)
		if len(found) == 0 {
			break
		}
		secrets += len(found)
		s = replace(s, found)
	}
	return s, secrets
}

// Find tells the secrets of a text in their order; none overlap.
func Find(s string) []Finding {
	found := scan(nil, s, nil)
	if strings.IndexByte(s, '\\') >= 0 {
		var v *view
		text := s
		for range maxEscapes {
			if v = unescaped(v, text); v == nil {
				break
			}
			text = v.text
			found = scan(found, text, v)
		}
	}
	if strings.IndexByte(s, '\n') >= 0 {
		if v := joined(s); v != nil {
			found = scan(found, v.text, v)
		}
	}
	found = slices.DeleteFunc(found, func(f Finding) bool { return strings.Contains(Mark, s[f.Start:f.End]) })
	if len(found) == 0 {
		return nil
	}
	return merge(everywhere(s, merge(found)))
}

// merge sorts findings and joins those that overlap.
func merge(found []Finding) []Finding {
	slices.SortFunc(found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
	})
	merged := found[:0]
	for _, f := range found {
		if n := len(merged); n > 0 && f.Start < merged[n-1].End {
			merged[n-1].End = max(merged[n-1].End, f.End)
			continue
		}
		merged = append(merged, f)
	}
	return merged
}

func replace(s string, found []Finding) string {
	var b strings.Builder
	b.Grow(len(s))
	at := 0
	for _, f := range found {
		b.WriteString(s[at:f.Start])
		b.WriteString(Mark)
		at = f.End
	}
	b.WriteString(s[at:])
	return b.String()
}

const (
	// minRepeat is the length from which a secret is replaced also where
	// nothing around it says that it is one.
	minRepeat = 6
	// fewSecrets are looked for one by one.
	fewSecrets = 8
)

// everywhere adds the other places where the secrets found stand.
func everywhere(s string, found []Finding) []Finding {
	rules := make(map[string]string)   // secret to rule
	heads := make(map[string][]string) // its beginning to secrets
	for _, f := range found {
		secret := s[f.Start:f.End]
		if _, known := rules[secret]; known || len(secret) < minRepeat {
			continue
		}
		rules[secret] = f.Rule
		heads[secret[:minRepeat]] = append(heads[secret[:minRepeat]], secret)
	}
	if len(rules) > fewSecrets {
		for at := 0; at+minRepeat <= len(s); at++ {
			for _, secret := range heads[s[at:at+minRepeat]] {
				if strings.HasPrefix(s[at:], secret) {
					found = append(found, Finding{rules[secret], at, at + len(secret)})
				}
			}
		}
		return found
	}
	for secret, rule := range rules {
		for at := 0; ; at += len(secret) {
			n := strings.Index(s[at:], secret)
			if n < 0 {
				break
			}
			at += n
			found = append(found, Finding{rule, at, at + len(secret)})
		}
	}
	return found
}
