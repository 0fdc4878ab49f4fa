package session

import (
	"fmt"
	"io/fs"
	"strconv"

	"github.com/gajae-code/gjc-index/jsonl"
)

// Prompt is what a person typed on the way to a leaf.
type Prompt struct {
	Number int // from 1, over what was archived and what was copied from other sessions
	Entry  *jsonl.Entry
	Text   string
}

// ErrNoPrompt is a prompt that a session doesn't have. It is fs.ErrNotExist.
var ErrNoPrompt = fmt.Errorf("no such prompt: %w", fs.ErrNotExist)

// Prompts are the messages of the user on a path, which must be whole: see
// Store.Whole. Where a rewound session kept fewer entries than it descends
// from, its origin says how many prompts came before.
func Prompts(path []*jsonl.Entry) []Prompt {
	var all []Prompt
	seen := 0
	for _, e := range path {
		if e.Role() == "user" {
			seen++
			all = append(all, Prompt{Number: seen, Entry: e, Text: promptText(e)})
			continue
		}
		if d, ok := e.Custom(); ok {
			if origin, is := d.(*jsonl.RewindOrigin); is {
				seen = max(seen, int(origin.PromptOffset))
			}
		}
	}
	return all
}

// promptText is the text of a message: its text blocks joined with a blank.
func promptText(e *jsonl.Entry) string {
	content := e.Value().Get("message").Get("content")
	if content.Is(jsonl.String) {
		return content.Str()
	}
	text := ""
	for _, block := range content.Items() {
		if block.Get("type").Str() != "text" {
			continue
		}
		if text != "" {
			text += " "
		}
		text += block.Get("text").Str()
	}
	return text
}

// findPrompt is the prompt that ref names: its number, or its entry's id.
func findPrompt(prompts []Prompt, ref string) (Prompt, error) {
	for _, p := range prompts {
		if id, ok := p.Entry.ID(); ok && id == ref {
			return p, nil
		}
	}
	if n, err := strconv.Atoi(ref); err == nil {
		for _, p := range prompts {
			if p.Number == n {
				return p, nil
			}
		}
	}
	return Prompt{}, fmt.Errorf("prompt %q: %w", ref, ErrNoPrompt)
}
