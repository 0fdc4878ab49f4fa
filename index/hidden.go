package index

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/gajae-code/gjc-index/history"
	"github.com/gajae-code/gjc-index/migrations"
)

// hidden are the prompts that were deleted from history on purpose. A
// transcript may still hold one; it is not shown as something typed, unless it
// was typed again after the deletion. Rows of history.db are never hidden: what
// was deleted is gone from there. The nil hidden hides nothing.
type hidden struct {
	texts history.Tombstones
	now   int64 // Unix ms; a later time says nothing about what was typed when
}

// hides reports whether a text of a transcript, typed at atMs, is hidden.
func (h *hidden) hides(text string, atMs int64) bool {
	if h == nil {
		return false
	}
	deleted, ok := h.texts.At(text)
	return ok && (atMs < deleted.UnixMilli()+1000 || atMs > h.now)
}

// hiddenCache keeps what was read of a history.db that has not changed since.
type hiddenCache struct {
	stamp history.Stamp
	texts history.Tombstones
}

// hidden reads which prompts are not to be shown; nil if there are none.
func (x *Index) hidden(ctx context.Context) (*hidden, error) {
	if x.dir != "" {
		return nil, nil
	}
	texts, err := x.tombstones(ctx)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		x.noHistory(err)
		return nil, nil
	case len(texts) == 0:
		return nil, nil
	}
	return &hidden{texts: texts, now: x.opt.Now().UnixMilli()}, nil
}

// noneDeleted reports whether the database knows history.db as it is, and that
// nothing was deleted from it.
func (x *Index) noneDeleted(ctx context.Context, stamp history.Stamp) bool {
	none := false
	err := x.retrying(ctx, func(db *migrations.DB) error {
		if none = false; db == nil {
			return nil
		}
		had, err := storedHistory(ctx, db)
		none = had.NoneDeleted && !had.Racy && had.Stamp == stamp
		return err
	})
	return err == nil && none
}

func (x *Index) tombstones(ctx context.Context) (history.Tombstones, error) {
	path := x.home.HistoryDB()
	stamp, err := history.StampOf(x.fsys, path)
	if err != nil || stamp == (history.Stamp{}) {
		return nil, err
	}
	x.hiddenMu.Lock()
	defer x.hiddenMu.Unlock()
	if x.hiddenHas.stamp == stamp {
		return x.hiddenHas.texts, nil
	}
	if x.noneDeleted(ctx, stamp) {
		return nil, nil
	}
	now := x.opt.Now()
	h, err := x.openHistory(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	texts, err := h.Tombstones(ctx)
	if err = errors.Join(err, h.Close()); err != nil {
		return nil, err
	}
	// A file this young may change again without its stamp telling.
	if time.Unix(0, stamp.Newest()).Before(now.Add(-x.tick())) {
		x.hiddenHas = hiddenCache{stamp, texts}
	}
	return texts, nil
}
