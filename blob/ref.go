package blob

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// refPrefix is what a reference begins with; the sum in lower-case hexadecimal
// follows.
const refPrefix = "blob:sha256:"

// Ref names a blob by the SHA-256 of its bytes. Refs are comparable.
type Ref struct{ sum [sha256.Size]byte }

// RefOf is the reference to a blob that holds data, whether it is stored or not.
func RefOf(data []byte) Ref { return Ref{sha256.Sum256(data)} }

// RefOfSum is the reference to the blob whose bytes have this SHA-256.
func RefOfSum(sum [sha256.Size]byte) Ref { return Ref{sum} }

// Sum is the SHA-256 of the blob's bytes.
func (r Ref) Sum() [sha256.Size]byte { return r.sum }

// ParseRef reads blob:sha256:<64 lower-case hexadecimal digits>; anything else
// is ErrRef.
func ParseRef(s string) (Ref, error) {
	digits, ok := strings.CutPrefix(s, refPrefix)
	if !ok {
		return Ref{}, ErrRef
	}
	return ParseHex(digits)
}

// ParseHex reads the 64 digits alone, as they stand in a blob's file name.
func ParseHex(digits string) (Ref, error) {
	var r Ref
	if len(digits) != 2*len(r.sum) || strings.ToLower(digits) != digits {
		return Ref{}, ErrRef
	}
	if _, err := hex.Decode(r.sum[:], []byte(digits)); err != nil {
		return Ref{}, fmt.Errorf("%w: %v", ErrRef, err)
	}
	return r, nil
}

// String is the reference as records hold it.
func (r Ref) String() string { return refPrefix + r.Hex() }

// Hex is the sum in lower-case hexadecimal: the blob's file name.
func (r Ref) Hex() string { return hex.EncodeToString(r.sum[:]) }
