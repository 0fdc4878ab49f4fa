package export

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/gajae-code/gjc-index/blob"
	"github.com/gajae-code/gjc-index/session"
)

// The names in an archive. The manifest comes last, since it has the sums of
// what is before it.
const (
	manifestName   = "manifest.json"
	manifestFormat = "gjc-index/archive"
	blobsDir       = "blobs"
	sessionsDir    = "sessions"

	maxManifest = 64 << 20 // bytes
)

// manifest says what an archive holds.
type manifest struct {
	Format      string            `json:"format"`
	V           int               `json:"v"`
	Redacted    bool              `json:"redacted"`
	Secrets     int               `json:"secretsRedacted"`
	LeftOut     int               `json:"blobsLeftOut"` // because of what is in them, or missing
	Sessions    []manifestSession `json:"sessions"`
	Files       []manifestFile    `json:"files"`
	byName      map[string]manifestFile
	transcripts map[string]bool
}

// manifestSession is one session; its files lie in the directory.
type manifestSession struct {
	ID         string `json:"id"`
	Cwd        string `json:"cwd"`
	Dir        string `json:"dir"`
	Transcript string `json:"transcript"` // name in Dir
}

type manifestFile struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// parseManifest reads and checks a manifest: every name in it can only lie
// where a restored file may.
func parseManifest(data []byte) (*manifest, error) {
	var m manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("%w: its manifest is no JSON", ErrArchive)
	}
	if m.Format != manifestFormat || m.V != 1 {
		return nil, fmt.Errorf("%w: its manifest is of another format or version", ErrArchive)
	}
	m.byName = make(map[string]manifestFile, len(m.Files))
	for _, f := range m.Files {
		if _, twice := m.byName[f.Name]; twice || !safeName(f.Name) {
			return nil, fmt.Errorf("%w: %.80q is no name for a file of it", ErrArchive, f.Name)
		}
		m.byName[f.Name] = f
	}
	m.transcripts = map[string]bool{}
	dirs := map[string]string{} // and the stem of its session
	for _, s := range m.Sessions {
		stem, isTranscript := strings.CutSuffix(s.Transcript, ".jsonl")
		if _, twice := dirs[s.Dir]; !isTranscript || twice || path.Dir(s.Dir) != sessionsDir || !safeName(s.Dir) || strings.Contains(s.Transcript, "/") {
			return nil, fmt.Errorf("%w: a session's place in it is wrong", ErrArchive)
		}
		if session.CheckID(s.ID) != nil || session.CheckID(path.Base(stem)) != nil {
			return nil, fmt.Errorf("%w: a session's id or name can't be one", ErrArchive)
		}
		name := s.Dir + "/" + s.Transcript
		if _, there := m.byName[name]; !there {
			return nil, fmt.Errorf("%w: the transcript of session %s is missing", ErrArchive, s.ID)
		}
		dirs[s.Dir], m.transcripts[name] = stem, true
	}
	return &m, m.checkPlaces(dirs)
}

// checkPlaces refuses files that are neither a blob nor of a session, and a
// file in the place of another one's directory.
func (m *manifest) checkPlaces(dirs map[string]string) error {
	for _, f := range m.Files {
		for dir := path.Dir(f.Name); dir != "."; dir = path.Dir(dir) {
			if _, file := m.byName[dir]; file {
				return fmt.Errorf("%w: %.80q is a file and a directory", ErrArchive, dir)
			}
		}
		if hex, ok := strings.CutPrefix(f.Name, blobsDir+"/"); ok {
			if ref, err := blob.ParseHex(hex); err == nil && ref.Hex() == f.SHA256 && f.Size <= blob.MaxSize {
				continue
			}
		} else if parts := strings.SplitN(f.Name, "/", 3); len(parts) == 3 {
			if stem, ok := dirs[parts[0]+"/"+parts[1]]; ok && belongs(parts[2], stem) {
				continue
			}
		}
		return fmt.Errorf("%w: %.80q belongs to nothing in it", ErrArchive, f.Name)
	}
	return nil
}

// belongs reports whether a file may stand beside the transcript of that stem:
// it is the transcript, what says what that doesn't, or in its own directory.
// Anything else could be another session's, or the directory's.
func belongs(name, stem string) bool {
	if name == stem+".jsonl" || strings.HasPrefix(name, stem+"/") {
		return true
	}
	end, ok := strings.CutPrefix(name, stem)
	return ok && slices.Contains(besides[:], end)
}

// maxNameParts bounds how deep a name may be.
const maxNameParts = 64

// safeName reports whether a name in an archive is a relative path of plain
// names on any system.
func safeName(name string) bool {
	if !fs.ValidPath(name) || name == "." || len(name) > 4096 || strings.Count(name, "/") > maxNameParts {
		return false
	}
	for _, part := range strings.Split(name, "/") {
		if len(part) > 255 || isDevice(part) || strings.HasSuffix(part, ".") || strings.HasSuffix(part, " ") ||
			strings.IndexFunc(part, func(r rune) bool { return r < 0x20 || r == 0x7f || strings.ContainsRune(`\:*?"<>|`, r) }) >= 0 {
			return false
		}
	}
	return true
}
