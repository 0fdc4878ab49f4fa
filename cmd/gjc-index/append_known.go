package main

import (
	"context"
	"slices"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/session"
)

// knownRoles are the roles of the messages that agents write. A message of
// another one loads everywhere and is shown by nothing.
var knownRoles = []string{"user", "assistant", "toolResult", "developer", "custom", "bashExecution", "pythonExecution",
	"fileMention", "branchSummary", "compactionSummary", "hookMessage"}

// unknownRole refuses a message of a role that no agent writes, such as a slip
// of the pen.
func unknownRole(entries []session.New) error {
	for i, entry := range entries {
		o := probed(entry)
		if o.Get("type").Str() == "message" && !slices.Contains(knownRoles, o.Get("message").Get("role").Str()) {
			return usagef("entry %d: its role is none that an agent writes: user, assistant, toolResult, developer …; nothing was done, --force appends it", i+1)
		}
	}
	return nil
}

// probed is an entry as it would be, but for what the session gives it.
func probed(entry session.New) *jsonl.Obj {
	return entry(jsonl.Base{ID: "0", Timestamp: "2006-01-02T15:04:05.000Z"}, "0")
}

// missingTarget refuses a label on an entry that the session doesn't have, as
// the agent does. Source: behaviour part 11.
func missingTarget(ctx context.Context, s *session.Session, entries []session.New) error {
	var have map[string]bool
	for i, entry := range entries {
		o := probed(entry)
		if o.Get("type").Str() != "label" {
			continue
		}
		if have == nil {
			all, err := s.Entries(ctx)
			if err != nil {
				return err
			}
			have = map[string]bool{}
			for _, e := range all {
				if id, ok := e.ID(); ok {
					have[id] = true
				}
			}
		}
		if !have[o.Get("targetId").Str()] {
			return usagef("entry %d: a label on an entry that the session doesn't have; nothing was done, gjc-index tree %s shows its entries, --force appends it", i+1, s.ID())
		}
	}
	return nil
}

// hasLabels reports whether an entry is a label.
func hasLabels(entries []session.New) bool {
	return slices.ContainsFunc(entries, func(e session.New) bool { return probed(e).Get("type").Str() == "label" })
}
