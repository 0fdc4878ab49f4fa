package main

import (
	"context"
	"log/slog"
	"strings"
)

// logger tells, as notes, of what failed beside a command's own work.
func (a *app) logger() *slog.Logger { return slog.New(&noter{app: a}) }

// noter makes notes of what is logged.
type noter struct {
	app   *app
	attrs []slog.Attr
}

// Enabled leaves out what is of no interest to a person.
func (n *noter) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

// Handle makes one sentence of it: what failed, why, and what it is about.
func (n *noter) Handle(_ context.Context, r slog.Record) error {
	var parts []string
	text := r.Message
	add := func(at slog.Attr) bool {
		err, failed := at.Value.Any().(error)
		switch {
		case failed:
			text = unable(r.Message) + ": " + briefly(err)
		case at.Key == "path", at.Key == "copy":
			parts = append(parts, at.Value.String())
		default:
			parts = append(parts, at.Key+" "+at.Value.String())
		}
		return true
	}
	for _, at := range n.attrs {
		add(at)
	}
	r.Attrs(add)
	if len(parts) > 0 {
		text += " (" + strings.Join(parts, ", ") + ")"
	}
	n.app.note("%s", text)
	return nil
}

// WithAttrs is n with more to say in each note.
func (n *noter) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &noter{n.app, append(n.attrs[:len(n.attrs):len(n.attrs)], attrs...)}
}

// WithGroup is n: its notes are for people, who need no groups.
func (n *noter) WithGroup(string) slog.Handler { return n }
