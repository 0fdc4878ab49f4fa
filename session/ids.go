package session

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	mrand "math/rand/v2"
	"regexp"
	"strings"
	"time"

	"github.com/gajae-code/gjc-index/jsonl"
)

// idPattern is what an id that becomes part of a path must match, and
// maxIDBytes its length: as a part of the pattern it costs each start of a
// process a third of a millisecond.
var idPattern = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*$`)

const maxIDBytes = 128

// LifecycleID is the id that whoever started the host chose for its first
// session: $GJC_SESSION_ID, if $GJC_LIFECYCLE_REQUEST_ID is set too and the id
// can be part of a path; "" is none. env looks a variable up, "" is unset.
// Source: behaviour, part 6.
func LifecycleID(env func(string) string) string {
	id := env("GJC_SESSION_ID")
	if env("GJC_LIFECYCLE_REQUEST_ID") == "" || CheckID(id) != nil {
		return ""
	}
	return id
}

// devices are names that Windows takes for devices, whatever follows a dot.
var devices = regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)`)

// CheckID refuses text that must not become part of a path, with ErrBadID.
func CheckID(id string) error {
	if len(id) > maxIDBytes || !idPattern.MatchString(id) || devices.MatchString(id) || strings.HasSuffix(id, ".") {
		return fmt.Errorf("%w: %d characters", ErrBadID, len(id))
	}
	return nil
}

// entryIDTries is how often a random entry id may collide before a longer one
// is taken.
const entryIDTries = 100

// newEntryID is an id that taken does not know.
func (s *Store) newEntryID(taken func(id string) bool) string {
	make8 := s.opt.NewEntryID
	if make8 == nil {
		make8 = func() string { return jsonl.EventID(mrand.Uint32()).String()[8:] }
	}
	for range entryIDTries {
		if id := make8(); !taken(id) {
			return id
		}
	}
	return longEntryID()
}

// longEntryID is an id for a session whose other ids were not read.
func longEntryID() string { return jsonl.EventID(mrand.Uint64()).String() }

func randomHex(bytes int) string {
	b := make([]byte, bytes)
	_, _ = rand.Read(b) // never fails: crypto/rand ends the program instead
	return hex.EncodeToString(b)
}

func (s *Store) newSessionID() (string, error) {
	if s.opt.NewSessionID == nil {
		return uuid7(s.opt.Now()), nil
	}
	id := s.opt.NewSessionID()
	return id, CheckID(id)
}

// uuid7 is a UUID of version 7: milliseconds first, so that ids sort by time.
func uuid7(now time.Time) string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(now.UnixMilli()))
	copy(b[:6], ms[2:])
	return uuidText(b, 7)
}

// uuid4 is a random UUID.
func uuid4() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	return uuidText(b, 4)
}

func uuidText(b [16]byte, version byte) string {
	b[6] = b[6]&0x0f | version<<4
	b[8] = b[8]&0x3f | 0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}
