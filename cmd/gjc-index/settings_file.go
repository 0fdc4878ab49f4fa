package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/gajae-code/gjc-index/scope"
)

// setting is one key of the file.
type setting struct {
	key  string
	what string                                // for people, one line
	want string                                // what a value must be
	set  func(s *settings, value any) bool     // false: the value is not what is wanted
	show func(s settings) (value any, ok bool) // ok is false where there is none
}

// allSettings are the keys, in the order in which they are shown.
func allSettings() []setting {
	return []setting{
		{"resume", "the command that goes on with a session, word by word; {id}, {path} and {cwd} stand for the session's",
			"a list of words, one of which holds {id} or {path}", setResume,
			func(s settings) (any, bool) { return s.Resume, true }},
		{"session.directoryMigration", "what becomes of a session of an older layout that is written", `"copy-retain" or "disabled"`,
			func(s *settings, v any) bool {
				text, _ := v.(string)
				s.Migration = scope.Policy(text)
				return s.Migration == scope.CopyRetain || s.Migration == scope.Disabled
			},
			func(s settings) (any, bool) { return string(s.Migration), true }},
		{"psm.enabled", "append also sums up what it appended", "true or false",
			func(s *settings, v any) (ok bool) { s.PSMEnabled, ok = v.(bool); return ok },
			func(s settings) (any, bool) { return s.PSMEnabled, true }},
		{"psm.exec", "the command that sums up", "a command in quotes",
			func(s *settings, v any) (ok bool) {
				s.PSMExec, ok = v.(string)
				return ok && strings.TrimSpace(s.PSMExec) != ""
			},
			func(s settings) (any, bool) { return s.PSMExec, s.PSMExec != "" }},
		{"usage.tz", "the zone of days and times in usage", `a time zone such as "Europe/Berlin" or "UTC"`, setZone,
			func(s settings) (any, bool) { return s.usageTZ, s.usageTZ != "" }},
		{"search.limit", "how many hits search shows", "a whole number from 1 on",
			func(s *settings, v any) bool { return setLimit(&s.SearchLimit, v) },
			func(s settings) (any, bool) { return s.SearchLimit, true }},
		{"list.limit", "how many sessions list shows", "a whole number from 1 on",
			func(s *settings, v any) bool { return setLimit(&s.ListLimit, v) },
			func(s settings) (any, bool) { return s.ListLimit, s.ListLimit > 0 }},
		{"colour", "when to print in colour", `"auto", "always" or "never"`,
			func(s *settings, v any) bool {
				s.Colour, _ = v.(string)
				return s.Colour == colourAuto || s.Colour == colourAlways || s.Colour == colourNever
			},
			func(s settings) (any, bool) { return s.Colour, true }},
	}
}

// parseSettings reads the text of a file into set, and says on which line each
// key stands. An error is of one line: "line 3: …".
func parseSettings(data []byte, set *settings) (lines map[string]int, err error) {
	var values map[string]any
	if err := toml.Unmarshal(data, &values); err != nil {
		return nil, tomlError(err)
	}
	known := map[string]setting{}
	tables := map[string]bool{}
	for _, one := range allSettings() {
		known[one.key] = one
		if table, _, ok := strings.Cut(one.key, "."); ok {
			tables[table] = true
		}
	}
	lines = map[string]int{}
	for _, k := range keysOf(data) {
		key := strings.Join(k.path, ".")
		one, ok := known[key]
		value, there := valueAt(values, k.path)
		_, isTable := value.(map[string]any)
		switch {
		case isTable && tables[key]:
		case !ok || !there:
			return nil, fmt.Errorf("line %d: there is no setting %q%s", k.line, key, meant(key))
		case !one.set(set, value):
			return nil, fmt.Errorf("line %d: %s must be %s", k.line, key, one.want)
		default:
			lines[key] = k.line
		}
	}
	return lines, nil
}

// placedKey is a key, with those of the tables that it is in, and its line.
type placedKey struct {
	path []string
	line int
}

// keysOf are the keys of a text that is TOML, in their order.
func keysOf(data []byte) []placedKey {
	var p unstable.Parser
	p.Reset(data)
	var all []placedKey
	var table []string
	var walk func(n *unstable.Node, under []string)
	walk = func(n *unstable.Node, under []string) {
		k := placedKey{path: slices.Clone(under)}
		for it := n.Key(); it.Next(); {
			k.path = append(k.path, string(it.Node().Data))
			if k.line == 0 {
				k.line = p.Shape(it.Node().Raw).Start.Line
			}
		}
		all = append(all, k)
		if n.Kind != unstable.KeyValue {
			table = k.path
		} else if v := n.Value(); v.Kind == unstable.InlineTable {
			for it := v.Children(); it.Next(); {
				walk(it.Node(), k.path)
			}
		}
	}
	for p.NextExpression() {
		switch n := p.Expression(); n.Kind {
		case unstable.KeyValue:
			walk(n, table)
		case unstable.Table, unstable.ArrayTable:
			walk(n, nil)
		}
	}
	return all
}

// meant names the key that was probably meant.
func meant(key string) string {
	bare := func(key string) string {
		return strings.NewReplacer("_", "", "-", "", "color", "colour").Replace(strings.ToLower(key))
	}
	last := func(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }
	for _, same := range []func(a, b string) bool{
		func(a, b string) bool { return bare(a) == bare(b) },
		func(a, b string) bool { return bare(last(a)) == bare(last(b)) },
	} {
		for _, one := range allSettings() {
			if same(one.key, key) {
				return "; did you mean " + one.key + "?"
			}
		}
	}
	return "; gjc-index config --sample shows all"
}

// tomlError is what is wrong with the text itself.
func tomlError(err error) error {
	var bad *toml.DecodeError
	if !errors.As(err, &bad) {
		return errors.New("its text is no TOML")
	}
	line, _ := bad.Position()
	why := strings.TrimPrefix(bad.Error(), "toml: ")
	if key := strings.Join(bad.Key(), "."); key != "" {
		return fmt.Errorf("line %d: %s can't be read as a setting: %s", line, key, why)
	}
	return fmt.Errorf("line %d: %s", line, why)
}

func valueAt(values map[string]any, key []string) (any, bool) {
	for i, part := range key {
		value, ok := values[part]
		if !ok || i == len(key)-1 {
			return value, ok
		}
		if values, ok = value.(map[string]any); !ok {
			return nil, false
		}
	}
	return nil, false
}

func setResume(s *settings, v any) bool {
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return false
	}
	s.Resume = nil
	which := false
	for _, word := range list {
		text, ok := word.(string)
		if !ok || strings.ContainsRune(text, 0) {
			return false
		}
		which = which || strings.Contains(text, "{id}") || strings.Contains(text, "{path}")
		s.Resume = append(s.Resume, text)
	}
	return which && strings.TrimSpace(s.Resume[0]) != ""
}

func setZone(s *settings, v any) bool {
	name, _ := v.(string)
	zone, err := time.LoadLocation(name)
	s.Zone, s.usageTZ = zone, name
	return err == nil && name != ""
}

func setLimit(limit *int, v any) bool {
	n, ok := v.(int64)
	*limit = int(min(n, math.MaxInt32))
	return ok && n >= 1 && n <= math.MaxInt32
}
