package main

// What a person has set: the defaults, and over them the file that the home,
// --config or the environment names. A flag of a command stands over both.

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
)

// settings are the values that commands go by where no flag says otherwise.
type settings struct {
	Resume      []string       // the command that goes on with a session; see resumeCommand
	Migration   scope.Policy   // of sessions of an older layout that are written
	PSMEnabled  bool           // append sums up what it appended
	PSMExec     string         // the command that sums up; "" picks sentences
	Zone        *time.Location // of usage; nil is this machine's
	SearchLimit int            // hits
	ListLimit   int            // sessions; 0 is all
	Colour      string         // auto, always or never

	usageTZ string // the name of Zone as it was given
	file    settingsFile
}

// settingsFile is where settings came from.
type settingsFile struct {
	path  string // "" if none is read
	from  origin // who named it
	there bool
	lines map[string]int // of each key that it sets
}

// origin says who set a value.
type origin string

const (
	fromDefault     origin = "default"
	fromFile        origin = "file"
	fromFlag        origin = "flag"
	fromEnvironment origin = "environment"
)

const (
	configVariable = "GJC_INDEX_CONFIG"
	noConfig       = "none" // as a file's name: no file is read
	maxConfigBytes = 64 << 10
)

// The values of the setting colour.
const (
	colourAuto   = "auto"
	colourAlways = "always"
	colourNever  = "never"
)

var colours = []string{colourAuto, colourAlways, colourNever}

func defaultSettings() settings {
	return settings{
		Resume: []string{"gjc", "--resume", "{id}"}, Migration: scope.CopyRetain,
		SearchLimit: defaultHits, Colour: colourAuto,
	}
}

// configured keeps the settings once they were read.
type configured struct {
	once sync.Once
	settings
	err    error
	unsaid bool // err stopped nothing and nobody was told
}

// settings are what the defaults and the file say. They are read once, when a
// command first needs one. An error names the file, the line and the key; it is
// one of usage, or fs.ErrNotExist if a file was named that is not there. Safe
// for several goroutines.
func (a *app) settings() (settings, error) {
	c := &a.set
	c.once.Do(func() { c.settings, c.err = a.readSettings() })
	return c.settings, c.err
}

func (a *app) readSettings() (settings, error) {
	set := defaultSettings()
	var err error
	if set.file.path, set.file.from, err = a.configPath(); err != nil || set.file.path == "" {
		return set, err
	}
	path := set.file.path
	if real, err := storage.RealPath(path); err == nil {
		path = real // such files are often links to where a person keeps them all
	}
	data, err := storage.ReadFile(a.fsys, path, maxConfigBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist) && set.file.from == fromDefault:
		return set, nil
	case errors.Is(err, fs.ErrNotExist):
		return set, fmt.Errorf("there is no file %s for settings (%s); name another, or %s%w", set.file.path, namedBy(set.file.from), noConfig, silent{fs.ErrNotExist})
	case errors.Is(err, storage.ErrTooLarge):
		return set, usagef("%s has more than %d KiB: it is no file of settings; go without it with --config %s", set.file.path, maxConfigBytes>>10, noConfig)
	case errors.As(err, new(*storage.UnsafeError)):
		return set, fmt.Errorf("%s holds no settings: it %s; put a file in its place, or go without with --config %s%w", set.file.path, reason(err), noConfig, silent{err})
	case err != nil:
		return set, fmt.Errorf("read settings %s: %w", set.file.path, err)
	}
	lines, err := parseSettings(data, &set)
	if err != nil {
		return defaultSettings(), usagef("%s, %w; mend it, or go without the file with --config %s", set.file.path, err, noConfig)
	}
	set.file.there, set.file.lines = true, lines
	return set, nil
}

func namedBy(from origin) string {
	if from == fromEnvironment {
		return "from " + configVariable
	}
	return "from --config"
}

// configPath is the file of settings and who named it; "" is none.
func (a *app) configPath() (path string, from origin, err error) {
	switch {
	case a.config != "":
		path, from = a.config, fromFlag
	case a.env(configVariable) != "":
		path, from = a.env(configVariable), fromEnvironment
	default:
		home, err := a.homeDir()
		if err != nil {
			return "", fromDefault, nil // where it matters, the command says so
		}
		return home.Config(), fromDefault, nil
	}
	if path == noConfig {
		return "", from, nil
	}
	path, err = a.absolute(path)
	return path, from, err
}

// resumeCommand is the command that goes on with a session, by its words.
func (s settings) resumeCommand(id, path, cwd string) []string {
	words := make([]string, len(s.Resume))
	fill := strings.NewReplacer("{id}", id, "{path}", path, "{cwd}", cwd)
	for i, word := range s.Resume {
		words[i] = fill.Replace(word)
	}
	return words
}

// defaultLimit sets a limit that no flag gave.
func (a *app) defaultLimit(cmd *cobra.Command, limit *int, of func(settings) int) error {
	if cmd.Flags().Changed("limit") {
		return nil
	}
	set, err := a.settings()
	*limit = of(set)
	return err
}

// chooseColour decides about colour: --colour, then the file, then NO_COLOR
// and what the terminal is. A broken file stops no command that needs only
// this; it is told of at the end.
func (a *app) chooseColour() error {
	when := a.colour
	if when != "" && !slices.Contains(colours, when) {
		return usagef("--colour is auto, always or never, not %q", when)
	}
	if when == "" {
		if a.json {
			return nil // nothing is painted
		}
		set, err := a.settings()
		a.set.unsaid = err != nil
		when = set.Colour
	}
	switch when {
	case colourAlways:
		a.screen.colour = true
	case colourNever:
		a.screen.colour = false
	}
	return nil
}

// sayBroken tells of settings that can't be read, if a command did without.
func (a *app) sayBroken() {
	if a.set.unsaid {
		a.set.unsaid = false
		a.note("%s", sentence(a.set.err))
	}
}
