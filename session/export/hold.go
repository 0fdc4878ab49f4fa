package export

import (
	"errors"
	"fmt"

	"github.com/gajae-code/gjc-index/session"
	"github.com/gajae-code/gjc-index/storage"
)

// Hold keeps a transcript from being removed while it is read: it takes the
// shared lock of the file's own descriptor until release is called, and makes
// no file. session.ErrProtected if it is being removed right now.
func Hold(fsys storage.FS, path string) (release func() error, err error) {
	f, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	if err := f.TryLock(true); err != nil {
		if errors.Is(err, storage.ErrLocked) {
			err = fmt.Errorf("read %s: %w: %w", path, session.ErrProtected, err)
		}
		return nil, errors.Join(err, f.Close())
	}
	return f.Close, nil
}
