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
		{"for people", false, false, "gjc-index: breadcrumb not written (terminal t1, error no space)\n"},
		{"as JSON", true, false, `{"note":"breadcrumb not written (terminal t1, error no space)"}` + "\n"},
		{"quiet", false, true, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var errs bytes.Buffer
			a := newApp(strings.NewReader(""), &bytes.Buffer{}, &errs)
			a.json, a.quiet = tt.json, tt.quiet
			log := a.logger()
			log.Debug("of no interest")
			log.With("terminal", "t1").WithGroup("g").Warn("breadcrumb not written", "error", errors.New("no space"))
			if got := errs.String(); got != tt.want {
				t.Errorf("stderr %q, want %q", got, tt.want)
			}
		})
	}
}
