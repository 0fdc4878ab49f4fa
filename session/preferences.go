package session

import (
	"context"

	"github.com/gajae-code/gjc-index/jsonl"
)

// Preferences are what a session is run with at a leaf.
type Preferences struct {
	Models        map[string]string // role to "provider/model"; "default" is the one for the main work
	ThinkingLevel jsonl.Value       // "off" if none was chosen
	ServiceTier   jsonl.Value       // Absent if none is set
	Mode          jsonl.Value       // "none" if none was entered
	ModeData      jsonl.Value       // Absent if the mode has none
}

// Model is the model for the main work; "" if none is known.
func (p Preferences) Model() string { return p.Models["default"] }

// PreferencesAt are the preferences at the end of a path.
func PreferencesAt(path []*jsonl.Entry) Preferences {
	c := jsonl.BuildContext(path)
	p := Preferences{Models: map[string]string{}, ThinkingLevel: c.ThinkingLevel, ServiceTier: c.ServiceTier, Mode: c.Mode, ModeData: c.ModeData}
	for _, m := range c.Models.Members() {
		p.Models[m.Key] = m.Value.Str()
	}
	return p
}

// Preferences are those at an entry, or at the session's leaf if id is "".
//
// Errors: ErrNoEntry.
func (s *Session) Preferences(ctx context.Context, id string) (Preferences, error) {
	var p Preferences
	err := s.View(ctx, func(tree *jsonl.Tree, leaf jsonl.Leaf) error {
		if id != "" {
			if tree.Entry(id) == nil {
				return ErrNoEntry
			}
			leaf = jsonl.LeafAt(id)
		}
		p = PreferencesAt(tree.Path(leaf))
		return nil
	})
	return p, err
}

// PreferenceChange says what changes; what is Absent, or "", stays.
type PreferenceChange struct {
	Model         string // "provider/model"
	Role          string // of the model; "" is "default"
	ThinkingLevel jsonl.Value
	ServiceTier   jsonl.Value // null unsets it
	Mode          string
	ModeData      jsonl.Value
}

// SetPreferences appends an entry for each preference that changes, with one
// write. What is so already is not written again.
//
// Errors: those of AppendBatch.
func (s *Session) SetPreferences(ctx context.Context, c PreferenceChange) (Receipt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.loadLocked(ctx); err != nil {
		return Receipt{Outcome: jsonl.RolledBack}, err
	}
	return s.appendLocked(ctx, c.entries(PreferencesAt(s.tree.Path(s.leaf)))...)
}

func (c PreferenceChange) entries(now Preferences) []New {
	role := c.Role
	if role == "" {
		role = "default"
	}
	differs := func(want, have jsonl.Value) bool {
		return !want.Is(jsonl.Absent) && want.JSON() != have.JSON()
	}
	var batch []New
	if was := now.Models[role]; c.Model != "" && c.Model != was {
		change := jsonl.ModelChange{Model: c.Model, Role: jsonl.StringValue(role)}
		if was != "" {
			change.PreviousModel = jsonl.StringValue(was)
		}
		batch = append(batch, NewModel(change))
	}
	if differs(c.ThinkingLevel, now.ThinkingLevel) {
		batch = append(batch, NewThinkingLevel(c.ThinkingLevel))
	}
	unset := c.ServiceTier.Is(jsonl.Null) && now.ServiceTier.Is(jsonl.Absent)
	if differs(c.ServiceTier, now.ServiceTier) && !unset {
		batch = append(batch, NewServiceTier(c.ServiceTier))
	}
	if c.Mode != "" && (c.Mode != now.Mode.Str() || differs(c.ModeData, now.ModeData)) {
		batch = append(batch, NewMode(c.Mode, c.ModeData))
	}
	return batch
}
