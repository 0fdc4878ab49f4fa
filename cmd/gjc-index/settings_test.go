package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSettingsThatAreRefused(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"no such key", "a = 1", `line 1: there is no setting "a"; gjc-index config --sample shows all`},
		{"another spelling", "\nsession.directory_migration = 1", `line 2: there is no setting "session.directory_migration"; did you mean session.directoryMigration?`},
		{"American", "color = 'auto'", `line 1: there is no setting "color"; did you mean colour?`},
		{"no such table", "[session]\n[sessions]\n", `line 2: there is no setting "sessions"; gjc-index config --sample shows all`},
		{"a table for a value", "[colour]\n", `line 1: colour must be "auto", "always" or "never"`},
		{"below a value", "[colour.x]\n", `line 1: there is no setting "colour.x"; gjc-index config --sample shows all`},
		{"no list", "resume = 'gjc'", "line 1: resume must be a list of words, one of which holds {id} or {path}"},
		{"an empty list", "resume = []", "line 1: resume must be a list of words, one of which holds {id} or {path}"},
		{"no session in it", "resume = ['gjc']", "line 1: resume must be a list of words, one of which holds {id} or {path}"},
		{"no command in it", "resume = ['', '{id}']", "line 1: resume must be a list of words, one of which holds {id} or {path}"},
		{"a number in it", "resume = ['gjc', 1, '{id}']", "line 1: resume must be a list of words, one of which holds {id} or {path}"},
		{"no policy", "session.directoryMigration = 'move'", `line 1: session.directoryMigration must be "copy-retain" or "disabled"`},
		{"no boolean", "[psm]\nenabled = 'yes'", "line 2: psm.enabled must be true or false"},
		{"an empty command", "[psm]\nexec = ' '", "line 2: psm.exec must be a command in quotes"},
		{"no zone", "usage.tz = 'Berlin'", `line 1: usage.tz must be a time zone such as "Europe/Berlin" or "UTC"`},
		{"an empty zone", "usage.tz = ''", `line 1: usage.tz must be a time zone such as "Europe/Berlin" or "UTC"`},
		{"nothing shown", "search.limit = 0", "line 1: search.limit must be a whole number from 1 on"},
		{"too many", "list.limit = 2147483648", "line 1: list.limit must be a whole number from 1 on"},
		{"half a hit", "search.limit = 1.5", "line 1: search.limit must be a whole number from 1 on"},
		{"no colour", "colour = true", `line 1: colour must be "auto", "always" or "never"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			set := defaultSettings()
			_, err := parseSettings([]byte(tt.text), &set)
			if err == nil || err.Error() != tt.want {
				t.Errorf("parseSettings(%q) = %v, want %s", tt.text, err, tt.want)
			}
		})
	}
}

func TestSettingsAtTheirLimits(t *testing.T) {
	set := defaultSettings()
	lines, err := parseSettings([]byte("list.limit = 2147483647\nsearch.limit = 1"), &set)
	if err != nil || set.ListLimit != 2147483647 || set.SearchLimit != 1 {
		t.Errorf("limits %d and %d, %v", set.ListLimit, set.SearchLimit, err)
	}
	if diff := cmp.Diff(map[string]int{"list.limit": 1, "search.limit": 2}, lines); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	home := t.TempDir()
	path := filepath.Join(home, "gjc-index.toml")
	for _, tt := range []struct{ bytes, status int }{{maxConfigBytes, exitDone}, {maxConfigBytes + 1, exitUsage}} {
		if err := os.WriteFile(path, []byte(strings.Repeat("#", tt.bytes)), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, stderr, status := answer(t, "config", "--home", home); status != tt.status {
			t.Errorf("%d bytes: status %d, want %d: %s", tt.bytes, status, tt.status, stderr)
		}
	}
}

func TestResumeCommandFillsItsWords(t *testing.T) {
	set := defaultSettings()
	if diff := cmp.Diff([]string{"gjc", "--resume", "a b"}, set.resumeCommand("a b", "/p", "/c")); diff != "" {
		t.Errorf("default (-want +got):\n%s", diff)
	}
	set.Resume = []string{"sh", "-c", "cd {cwd} && x {path} {id}{id} {other}"}
	want := []string{"sh", "-c", "cd {id} && x {cwd} 11 {other}"} // what is filled in is not filled again
	if diff := cmp.Diff(want, set.resumeCommand("1", "{cwd}", "{id}")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func FuzzParseSettings(f *testing.F) {
	for _, text := range []string{"", "a = 1", "[list]\nlimit = 5", "psm = { enabled = true, exec = 'x' }", "resume = [\n'a', # b\n'{id}',\n]",
		"[[list]]\nlimit=1", "usage.tz = 2026-03-01", "'usage'.\"tz\" = 'UTC'", "a = {b = {c = [{d = 1}]}}", "colour = \"\"\"\nauto\"\"\""} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		set := defaultSettings()
		lines, err := parseSettings(data, &set)
		if err != nil {
			if text := err.Error(); strings.Contains(text, "\n") || !strings.HasPrefix(text, "line ") {
				t.Fatalf("an error of several lines, or without one: %q", text)
			}
			return
		}
		for key, line := range lines {
			if line < 1 || line > strings.Count(string(data), "\n")+1 {
				t.Fatalf("%s stands on line %d of %q", key, line, data)
			}
		}
		if len(set.Resume) == 0 || set.SearchLimit < 1 || set.ListLimit < 0 {
			t.Fatalf("settings %+v of %q", set, data)
		}
	})
}
