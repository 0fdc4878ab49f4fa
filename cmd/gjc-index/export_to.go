package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/gajae-code/gjc-index/session/export"
	"github.com/gajae-code/gjc-index/storage"
)

// save writes to the destination, which is checked before anything is made.
func (e exporting) save(ctx context.Context, out, name, source string, write func(io.Writer) error) (string, error) {
	if out == "-" {
		return "", write(e.out)
	}
	if out == "" {
		out = name
	}
	path, err := e.absolute(out)
	if err != nil {
		return "", err
	}
	d, err := e.destination(path, out, source)
	if err != nil {
		return "", err
	}
	if err := d.Save(ctx, write); err != nil {
		return "", destinationError(out, err)
	}
	return d.Path(), nil
}

func (e exporting) destination(path, out, source string) (*export.Destination, error) {
	opt := export.DestinationOptions{Force: e.f.force, Source: source}
	if home, err := e.homeDir(); err == nil {
		opt.Avoid = []string{home.Sessions(), home.Blobs(), home.Trash(), home.Breadcrumbs()}
		for _, name := range []string{home.HistoryDB(), home.IndexDB(), home.PruneLog()} {
			if strings.HasPrefix(path, name) {
				return nil, fmt.Errorf("can't export to %s: it belongs to the store%w", out, silent{storage.ErrUnsafe})
			}
		}
	}
	if e.sessionDir != "" && strings.Contains(filepath.Base(path), ".jsonl") {
		opt.Avoid = append(opt.Avoid, e.sessionDir) // it would be listed as a session
	}
	d, err := export.Check(e.fsys, path, opt)
	if err != nil {
		return nil, destinationError(out, err)
	}
	return d, nil
}

// destinationError says in one sentence why a file was not written.
func destinationError(out string, err error) error {
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%s is there already: --force replaces it%w", out, silent{err})
	case errors.Is(err, export.ErrDestination):
		return fmt.Errorf("can't export to %s: it belongs to the store, or is the session itself%w", out, silent{errors.Join(err, storage.ErrUnsafe)})
	}
	return fmt.Errorf("write %s: %s%w", out, cause(err), silent{err})
}
