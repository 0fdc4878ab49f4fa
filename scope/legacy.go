package scope

import (
	"os"
	"path/filepath"
	"strings"
)

// WithUser is h with the user's home directory and the directory for temporary
// files set, which the names of legacy directories are made from. FindHome
// knows the first; what is not set is asked of the environment.
func (h Home) WithUser(userHome, temp string) Home {
	h.user, h.temp = userHome, temp
	return h
}

func (h Home) userHome() string {
	if h.user != "" {
		return h.user
	}
	dir, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return dir
}

func (h Home) tempDir() string {
	if h.temp != "" {
		return h.temp
	}
	dir := os.TempDir()
	if trimmed := strings.TrimRight(dir, `/\`); trimmed != "" {
		return trimmed
	}
	return dir
}

// LegacyNames are the directories that older layouts used for the scope's
// workspace, in the order they are looked at. The encoding is lossy, so a name
// proves nothing: each transcript's header decides. Source: behaviour, part 17.
func (s *Scope) LegacyNames() []string {
	return LegacyNames(s.Canonical, s.Workspace, s.Home.userHome(), s.Home.tempDir())
}

// LegacyNames are the legacy directory names of a workspace known by its
// canonical path and by the absolute path it was asked for, given the user's
// home directory and the directory for temporary files ("" is none).
func LegacyNames(canonical, lexical, userHome, temp string) []string {
	var list []string
	add := func(name string) {
		for _, have := range list {
			if have == name {
				return
			}
		}
		list = append(list, name)
	}
	add(legacyAbsolute(canonical))
	add(legacyAbsolute(lexical))
	if rel, ok := legacyRelative(userHome, canonical, lexical); ok {
		enc := dashed(rel)
		add("-" + enc)
		if rel == "" {
			add("----")
			add("--" + dashed(userHome) + "--")
		} else {
			add("---" + enc + "--")
			add("--" + dashed(userHome) + "-" + enc + "--")
		}
	}
	if rel, ok := legacyRelative(temp, canonical, lexical); ok {
		tail := ""
		if rel != "" {
			tail = "-" + dashed(rel)
		}
		add("-tmp" + tail)
		add("---tmp" + tail + "--")
	}
	return list
}

// legacyAbsolute is -- the path without its first slash, dashed, and -- again.
func legacyAbsolute(path string) string {
	if path != "" && (path[0] == '/' || path[0] == '\\') {
		path = path[1:]
	}
	return "--" + dashed(path) + "--"
}

func dashed(path string) string {
	return strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || r == ':' {
			return '-'
		}
		return r
	}, path)
}

// legacyRelative is the workspace relative to root ("" for root itself), by
// canonical paths or, failing that, by the paths as they are spelled.
func legacyRelative(root, canonical, lexical string) (string, bool) {
	if root == "" {
		return "", false
	}
	real := root
	if id, err := Identify(root); err == nil {
		real = id.Canonical
	}
	if rel, ok := below(real, canonical); ok {
		return rel, true
	}
	return below(root, lexical)
}

func below(root, path string) (string, bool) {
	rel, err := filepath.Rel(root, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	if rel == "." {
		rel = ""
	}
	return rel, true
}
