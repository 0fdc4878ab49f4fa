package main

import (
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gajae-code/gjc-index/jsonl"
)

// described is an entry for people.
type described struct {
	who    string
	text   string
	calls  []string // tools that a message asks for
	output bool     // text is what a tool printed
}

// describe says what an entry holds. Images show as their kind only.
func describe(e *jsonl.Entry) described {
	v := e.Value()
	switch e.Type() {
	case "message":
		return describeMessage(v.Get("message"))
	case "custom_message":
		return described{who: "note (" + v.Get("customType").Str() + ")", text: contentText(v.Get("content"))}
	case "compaction":
		return described{who: "summary of what came before", text: v.Get("summary").Str()}
	case "branch_summary":
		return described{who: "summary of another branch", text: v.Get("summary").Str()}
	case "label":
		if label := v.Get("label").Str(); label != "" {
			return described{who: "label", text: label + " on " + v.Get("targetId").Str()}
		}
		return described{who: "label", text: "cleared on " + v.Get("targetId").Str()}
	case "model_change":
		return described{who: "model", text: v.Get("model").Str()}
	case "thinking_level_change":
		return described{who: "thinking", text: v.Get("thinkingLevel").Str()}
	case "mode_change":
		return described{who: "mode", text: v.Get("mode").Str()}
	case "service_tier_change":
		return described{who: "service tier", text: v.Get("serviceTier").Str()}
	case "custom":
		return described{who: "custom", text: v.Get("customType").Str()}
	case "session_init":
		return described{who: "start", text: v.Get("task").Str()}
	}
	return described{who: e.Type()}
}

func describeMessage(m jsonl.Value) described {
	d := described{text: contentText(m.Get("content"))}
	switch role := m.Get("role").Str(); role {
	case "user":
		d.who = "you"
	case "assistant":
		d.who = "assistant"
		if model := m.Get("model").Str(); model != "" {
			d.who += " (" + model + ")"
		}
		if reason := m.Get("errorMessage").Str(); reason != "" {
			d.text = strings.TrimLeft(d.text+"\n"+reason, "\n")
		}
	case "toolResult":
		d.who, d.output = "result of "+m.Get("toolName").Str(), true
	default:
		d.who = role
	}
	for _, block := range m.Get("content").Items() {
		if block.Get("type").Str() == "toolCall" {
			d.calls = append(d.calls, block.Get("name").Str()+" "+block.Get("arguments").JSON())
		}
	}
	return d
}

// contentText is the text of a message's content, blocks on lines of their own.
func contentText(content jsonl.Value) string {
	if content.Is(jsonl.String) {
		return content.Str()
	}
	var parts []string
	for _, block := range content.Items() {
		switch block.Get("type").Str() {
		case "text":
			parts = append(parts, block.Get("text").Str())
		case "image":
			parts = append(parts, "[image "+block.Get("mimeType").Str()+"]")
		}
	}
	return strings.Join(parts, "\n")
}

func itoa(n int) string { return strconv.Itoa(n) }

// millis is a time in Unix ms.
func millis(ms float64) time.Time { return time.UnixMilli(int64(ms)).UTC() }

// baseName is the last part of a path; the path itself where there is none.
func baseName(path string) string {
	if path == "" {
		return "-"
	}
	return filepath.Base(path)
}
