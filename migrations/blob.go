package migrations

import "fmt"

// Blob is a value of bytes that is scanned without a copy: this driver makes
// each value in memory of its own, so that it may be kept.
type Blob []byte

// Scan takes the value. NULL is nil.
func (b *Blob) Scan(value any) error {
	switch v := value.(type) {
	case nil:
		*b = nil
	case []byte:
		*b = v
	default:
		return fmt.Errorf("scan blob: value is a %T", value)
	}
	return nil
}
