package session

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/gajae-code/gjc-index/blob"
	"github.com/gajae-code/gjc-index/storage"
)

// maxKnownBlobs bounds how many images are remembered to be there.
const maxKnownBlobs = 1 << 18

// missingBlobs tells of the images that a file refers to and that are not there.
func (d *doctor) missingBlobs(ctx context.Context, f *file) {
	lost := map[blob.Ref]bool{}
	for sum := range f.refs {
		ref, err := blob.ParseHex(sum)
		if err != nil {
			continue // text that looks like a reference
		}
		there, known := d.blobs[sum]
		if !known {
			info, err := d.st.fsys.Lstat(d.st.blobs.Path(ref))
			there = err == nil && info.Kind == storage.Regular
			if len(d.blobs) > maxKnownBlobs {
				clear(d.blobs)
			}
			d.blobs[sum] = there
		}
		if !there {
			lost[ref] = true
		}
	}
	if len(lost) == 0 || d.opt.Dir != "" {
		return
	}
	f.faults++
	detail := "refers to " + plural(len(lost), "image that is", "images that are") + " not stored any more"
	if d.trashed(lost) < len(lost) {
		d.tell(Finding{Check: "blobs", State: HealthBad, Path: f.path, Detail: detail, Fix: "put the files back from a copy of " + quoted(d.st.opt.Home.Blobs())})
		return
	}
	found := Finding{Check: "blobs", State: HealthBad, Path: f.path, Detail: "refers to " + plural(len(lost), "image that lies", "images that lie") + " in the trash"}
	d.mendable(ctx, found, func(ctx context.Context) (string, error) {
		return "the images that it refers to are back from the trash", d.untrash(ctx, lost)
	})
}

// blobTrashes are the directories of the trash that hold images.
func (d *doctor) blobTrashes() []string {
	trash := d.st.opt.Home.Trash()
	entries, _ := readDir(d.st.fsys, trash) // one that can't be read was told of
	var dirs []string
	for _, e := range entries {
		if e.Info.Kind == storage.Dir && strings.HasSuffix(e.Name, blobTrash) {
			dirs = append(dirs, filepath.Join(trash, e.Name))
		}
	}
	return dirs
}

// trashed counts the images that lie in the trash.
func (d *doctor) trashed(lost map[blob.Ref]bool) int {
	n := 0
	dirs := d.blobTrashes()
	for ref := range lost {
		for _, dir := range dirs {
			if there, _ := d.st.isThere(filepath.Join(dir, ref.Hex())); there {
				n++
				break
			}
		}
	}
	return n
}

func (d *doctor) untrash(ctx context.Context, lost map[blob.Ref]bool) (err error) {
	unlock, err := d.st.lockTrash(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	for _, dir := range d.blobTrashes() {
		if _, err := d.st.putBlobsBack(ctx, dir, func(ref blob.Ref) bool { return lost[ref] }); err != nil {
			return err
		}
	}
	for ref := range lost {
		d.blobs[ref.Hex()] = true
	}
	return d.st.fsys.SyncDir(d.st.opt.Home.Blobs())
}

// storedBlobs compares every image with its sum.
func (d *doctor) storedBlobs(ctx context.Context) {
	s := d.st
	dir, n, bad := s.opt.Home.Blobs(), 0, 0
	check := func(ref blob.Ref, err error) {
		n++
		if err == nil {
			return
		}
		bad++
		why := reasonOf(err)
		if errors.Is(err, blob.ErrCorrupt) {
			why = "does not hold what its name says: the image is damaged"
		}
		d.bad("blobs", s.blobs.Path(ref), why, "put a good copy of it in its place")
	}
	if d.opt.Quick {
		for item, err := range s.blobs.List(ctx) {
			if item.Ref != (blob.Ref{}) {
				check(item.Ref, err)
			}
		}
	} else {
		for ref, err := range s.blobs.Verify(ctx) {
			d.opt.Progress(s.blobs.Path(ref))
			if ref != (blob.Ref{}) {
				check(ref, err)
			} else if ctx.Err() == nil {
				d.bad("blobs", dir, "can't be listed: "+reasonOf(err), "")
			}
		}
	}
	if bad == 0 && n > 0 && ctx.Err() == nil {
		d.ok("blobs", dir, plural(n, "image is", "images are")+" stored")
	}
}
