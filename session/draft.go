package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/gajae-code/gjc-index/storage"
)

// maxDraft bounds a draft, in bytes.
const maxDraft = 16 << 20

func (c *core) draftPath() string { return filepath.Join(stemOf(c.path), "draft.txt") }

// SaveDraft keeps what the user has typed and not sent; "" forgets it. The
// session is written, so that the draft can be found again.
func (s *Session) SaveDraft(ctx context.Context, draft string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.ensureLocked(ctx); err != nil {
		return err
	}
	if s.memory {
		s.draft = draft
		return nil
	}
	if draft == "" {
		return s.dropDraft()
	}
	if err := storage.MkdirAll(s.st.fsys, stemOf(s.path)); err != nil {
		return fmt.Errorf("save draft: %w", err)
	}
	err := storage.Replace(ctx, s.st.fsys, s.draftPath(), newFileMode, func(w io.Writer) error {
		_, err := io.WriteString(w, draft)
		return err
	})
	if err != nil {
		return fmt.Errorf("save draft: %w", err)
	}
	return nil
}

// ConsumeDraft takes the draft: it is given once. ok is false without one.
func (s *Session) ConsumeDraft(ctx context.Context) (draft string, ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usableLocked(); err != nil {
		return "", false, err
	}
	if s.memory {
		draft, s.draft = s.draft, ""
		return draft, draft != "", nil
	}
	data, err := storage.ReadFile(s.st.fsys, s.draftPath(), maxDraft)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("read draft: %w", err)
	}
	return string(data), true, s.dropDraft()
}

func (c *core) dropDraft() error {
	if err := c.st.fsys.Remove(c.draftPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove draft: %w", err)
	}
	return nil
}
