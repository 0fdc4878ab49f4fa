package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestLoggedFailuresAreNotes(t *testing.T) {
	for _, tt := range []struct {
		name        string
		json, quiet bool
		want        string
	}{
		{"for people", false, false, "gjc-index: can't write breadcrumb: no space (terminal t1)\n"},
		{"as JSON", true, false, `{"note":"can't write breadcrumb: no space (terminal t1)"}` + "\n"},
		{"quiet", false, true, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var errs bytes.Buffer
			a := newApp(strings.NewReader(""), &bytes.Buffer{}, &errs)
			a.json, a.quiet = tt.json, tt.quiet
			log := a.logger()
			log.Debug("of no interest")
			log.With("terminal", "t1").WithGroup("g").Warn("write breadcrumb", "error", errors.New("no space"))
			if got := errs.String(); got != tt.want {
				t.Errorf("stderr %q, want %q", got, tt.want)
			}
		})
	}
}
