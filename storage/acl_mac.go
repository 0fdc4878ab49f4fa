package storage

import "encoding/binary"

// The layout of what macOS answers for a file's extended security: the length
// of the answer, then where its kauth_filesec is and how long, both counted
// from that second field. Decoded here, apart from the call, for tests on any
// platform.
const (
	securityHeader  = 12
	filesecMagic    = 0x012cc16d
	filesecEntries  = 36 // magic, owner and group
	filesecNoACL    = 0xffffffff
	filesecMinBytes = filesecEntries + 4
)

// judgeSecurity refuses an answer that holds a list, empty or not, or that is
// not understood.
func judgeSecurity(name string, answer []byte) error {
	malformed := &UnsafeError{Path: name, Reason: "access control list is malformed"}
	if len(answer) < securityHeader {
		return malformed
	}
	at := uint64(binary.LittleEndian.Uint32(answer[4:])) + 4
	size := uint64(binary.LittleEndian.Uint32(answer[8:]))
	if size == 0 {
		return nil
	}
	if size < filesecMinBytes || at < securityHeader || at+filesecMinBytes > uint64(len(answer)) {
		return malformed
	}
	sec := answer[at:]
	if binary.LittleEndian.Uint32(sec) != filesecMagic {
		return malformed
	}
	if binary.LittleEndian.Uint32(sec[filesecEntries:]) == filesecNoACL {
		return nil
	}
	return &UnsafeError{Path: name, Reason: "has an access control list"}
}
