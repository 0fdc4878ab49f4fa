package export

import (
	"context"

	"github.com/gajae-code/gjc-index/session"
	"github.com/gajae-code/gjc-index/storage"
)

// Hold keeps a transcript from being removed while it is read, until release
// is called. It makes no file. Errors: those of session.Store.Protect.
func Hold(ctx context.Context, fsys storage.FS, path string) (release func() error, err error) {
	return session.NewStore(fsys, session.Options{}).Protect(ctx, path)
}
