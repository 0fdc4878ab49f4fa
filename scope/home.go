package scope

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/gajae-code/gjc-index/storage"
)

// Home is the agent directory and every fixed path under it. The paths are
// native and absolute. Make one with FindHome or HomeAt; the zero Home names
// nothing. Comparable.
type Home struct {
	dir, data, state string
	user, temp       string // for the names of legacy directories
}

// HomeAt is the home in one directory, with everything under it.
func HomeAt(dir string) Home { return Home{dir: dir, data: dir, state: dir} }

// Dir is the agent directory itself.
func (h Home) Dir() string { return h.dir }

// Sessions is the directory of scopes.
func (h Home) Sessions() string { return filepath.Join(h.data, "sessions") }

// EventSequence is the file that holds the next free event id.
func (h Home) EventSequence() string { return filepath.Join(h.Sessions(), "event-id-sequence") }

// Blobs is the directory of externalized images.
func (h Home) Blobs() string { return filepath.Join(h.data, "blobs") }

// HistoryDB is the database of typed prompts.
func (h Home) HistoryDB() string { return filepath.Join(h.data, "history.db") }

// IndexDB is the database that can be thrown away; SQLite puts -wal and -shm
// beside it.
func (h Home) IndexDB() string { return filepath.Join(h.data, "index.db") }

// IndexLock is the kernel lock file of the index.
func (h Home) IndexLock() string { return filepath.Join(h.data, "index.db.lock") }

// Trash is where deleted sessions wait. It is never under Sessions.
func (h Home) Trash() string { return filepath.Join(h.data, "trash") }

// PruneLog says what was pruned, and when.
func (h Home) PruneLog() string { return filepath.Join(h.data, "prune.log") }

// Config is the file in which a person sets what gjc-index does by default.
func (h Home) Config() string { return filepath.Join(h.dir, "gjc-index.toml") }

// Breadcrumbs is the directory of the terminals' last sessions.
func (h Home) Breadcrumbs() string { return filepath.Join(h.state, "terminal-sessions") }

// ResidentCache is a directory of the original program. It is not part of the
// format; nothing here reads or makes it, and copies of artifacts leave it out.
func (h Home) ResidentCache() string { return filepath.Join(h.dir, residentCache) }

const residentCache = "resident-cache"

// ProjectLocal is where a workspace keeps transcripts of its own, <cwd>/.gjc.
// It is only read.
func ProjectLocal(cwd string) string { return filepath.Join(cwd, ".gjc") }

// FindHome says where the home is; it looks at names and creates nothing.
// flag is what --home said, env looks a variable up ("" is unset), userHome is
// the user's home directory, exists reports whether a path is a directory
// (symbolic links followed). The first that applies wins:
//
//  1. flag, an agent directory.
//  2. $GJC_CODING_AGENT_DIR, then $PI_CODING_AGENT_DIR: an agent directory.
//  3. $GJC_CONFIG_DIR: a configuration directory, whose agent directory is its
//     subdirectory "agent". A relative name lies in the user's home, so that
//     ".gjc" is the default.
//  4. $XDG_DATA_HOME/gjc, if that directory exists: sessions, blobs, history,
//     index and trash are there, breadcrumbs in $XDG_STATE_HOME/gjc (if that
//     variable is set), and the agent directory is still the default.
//  5. The default, ~/.gjc/agent.
//
// Rule 4 also holds where rule 2 or 3 names exactly the default. A leading ~/
// is the user's home; a relative flag or agent directory lies in the process's
// working directory. XDG variables that are not absolute are ignored, as their
// specification asks. Source: behaviour, part 17.
func FindHome(flag string, env func(string) string, userHome string, exists func(string) bool) (Home, error) {
	h, err := findHome(flag, env, userHome, exists)
	h.user = userHome
	return h, err
}

func findHome(flag string, env func(string) string, userHome string, exists func(string) bool) (Home, error) {
	if flag != "" {
		return absoluteHome(flag, userHome)
	}
	dir, err := namedHome(env, userHome)
	if err != nil {
		return Home{}, err
	}
	if userHome == "" {
		if dir == "" {
			return Home{}, errors.New("find home: neither --home nor the user's home directory is known")
		}
		return HomeAt(dir), nil
	}
	usual := filepath.Join(userHome, ".gjc", "agent")
	if dir != "" && dir != usual {
		return HomeAt(dir), nil
	}
	h := HomeAt(usual)
	data := env("XDG_DATA_HOME")
	if !filepath.IsAbs(data) || !exists(filepath.Join(data, "gjc")) {
		return h, nil
	}
	h.data = filepath.Join(data, "gjc")
	if state := env("XDG_STATE_HOME"); filepath.IsAbs(state) {
		h.state = filepath.Join(state, "gjc")
	}
	return h, nil
}

// namedHome is the agent directory that the environment names, or "".
func namedHome(env func(string) string, userHome string) (string, error) {
	for _, name := range []string{"GJC_CODING_AGENT_DIR", "PI_CODING_AGENT_DIR"} {
		if value := env(name); value != "" {
			h, err := absoluteHome(value, userHome)
			return h.dir, err
		}
	}
	config := env("GJC_CONFIG_DIR")
	if config == "" {
		return "", nil
	}
	config = expandUser(config, userHome)
	if !filepath.IsAbs(config) {
		if userHome == "" {
			return "", fmt.Errorf("find home: GJC_CONFIG_DIR is relative and the user's home directory is unknown")
		}
		config = filepath.Join(userHome, config)
	}
	return filepath.Join(config, "agent"), nil
}

func absoluteHome(dir, userHome string) (Home, error) {
	abs, err := filepath.Abs(expandUser(dir, userHome))
	if err != nil {
		return Home{}, fmt.Errorf("find home %s: %w", dir, err)
	}
	return HomeAt(abs), nil
}

func expandUser(path, userHome string) string {
	if userHome == "" || path == "" || path[0] != '~' {
		return path
	}
	if path == "~" {
		return userHome
	}
	if rest := path[1:]; strings.HasPrefix(rest, "/") || strings.HasPrefix(rest, string(filepath.Separator)) {
		return filepath.Join(userHome, rest)
	}
	return path
}

// Prepare makes the home and its sessions directory, 0700, and checks that the
// latter is safe to put scopes into: a real directory, ours, that nobody else
// may write. It is called before a process's first write; nothing else makes
// them. What exists already keeps its mode, and the home itself may be a
// symbolic link, which is the user's own business.
func (h Home) Prepare(fsys storage.FS) error {
	for _, dir := range []string{h.dir, h.data} {
		if info, err := fsys.Lstat(dir); err == nil && info.Kind == storage.Symlink {
			continue
		}
		if err := storage.MkdirAll(fsys, dir); err != nil {
			return fmt.Errorf("prepare %s: %w", dir, err)
		}
	}
	sessions := h.Sessions()
	info, err := fsys.Lstat(sessions)
	if errors.Is(err, fs.ErrNotExist) {
		if err := storage.MkdirAll(fsys, sessions); err != nil {
			return fmt.Errorf("prepare %s: %w", sessions, err)
		}
		info, err = fsys.Lstat(sessions)
	}
	if err != nil {
		return fmt.Errorf("prepare %s: %w", sessions, err)
	}
	return checkRoot(sessions, info)
}

// checkRoot judges the sessions directory for writing. Its exact mode is not
// ours to ask (the scopes in it are 0700 each), but whoever can write it could
// put another scope in the place of ours.
func checkRoot(sessions string, info storage.Info) error {
	reason := ""
	switch {
	case info.Kind == storage.Symlink:
		reason = "is a symbolic link"
	case info.Kind != storage.Dir:
		reason = "is not a directory"
	case info.Mode&0o022 != 0 && runtime.GOOS != "windows":
		reason = fmt.Sprintf("mode is %04o, so that others can write it", info.Mode)
	case !ours(info):
		reason = fmt.Sprintf("belongs to user %d", info.UID)
	default:
		return nil
	}
	return &storage.UnsafeError{Path: sessions, Reason: reason}
}
