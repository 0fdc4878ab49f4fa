package index

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/migrations"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
	"github.com/jmoiron/sqlx"
)

// A session of an older layout that was opened for writing lies twice under
// sessions/: as it was, and as a copy in its workspace's scope. A receipt in
// the scope says so. The source stays where it is and stays hidden: a list, a
// search and a sum are about the copy.

// maxReceipt bounds what is read of a receipt or a tombstone, in bytes.
const maxReceipt = 16 << 20

// movedFile is a session file and the copy that was made of it, each as scope
// and name.
type movedFile struct {
	From, To [2]string
	ID       string // of the session; the copy must still be of it
}

// movedFiles is what the receipts say, as the database keeps it.
type movedFiles struct {
	Stamp string // of what it was read from; "": read it again
	Files []movedFile
}

// sources are the files that are hidden, by path.
type sources map[string]movedFile

// isLegacy reports whether a scope's name is one of an older layout.
func isLegacy(scope string) bool { return strings.HasPrefix(scope, "-") }

// findSources looks for files that are hidden. It costs nothing in a home
// without an older layout, and else little as long as no receipt is added.
func (x *Index) findSources(ctx context.Context, db *migrations.DB, w *walk) error {
	found := sources{}
	defer func() { x.sources.Store(&found) }()
	if !slices.ContainsFunc(w.scopes, func(s diskScope) bool { return isLegacy(s.name) && len(s.files) > 0 }) {
		return nil
	}
	had, err := storedSources(ctx, db)
	if err != nil {
		return err
	}
	now, young := x.stampReceipts(w)
	if had.Stamp != now || young {
		if had, err = x.readReceipts(ctx, w); err != nil {
			return err
		}
		if !young {
			had.Stamp = now
			x.storeSources(ctx, db, had)
		}
	}
	there := map[[2]string]bool{}
	for i := range w.scopes {
		for j := range w.scopes[i].files {
			there[[2]string{w.scopes[i].name, w.scopes[i].files[j].name}] = true
		}
	}
	for _, m := range had.Files {
		if there[m.From] && (m.To == [2]string{} || there[m.To]) {
			found[w.path(m.From[0], m.From[1])] = m
		}
	}
	return nil
}

// hiddenSources are those of the last refresh, else those that the database knows.
func (x *Index) hiddenSources(ctx context.Context, db *migrations.DB) (sources, error) {
	if found := x.sources.Load(); found != nil {
		return *found, nil
	}
	had, err := storedSources(ctx, db)
	found := sources{}
	for _, m := range had.Files {
		found[x.fileAt(m.From[0], m.From[1])] = m
	}
	return found, err
}

// migrated are the hidden files, wherever they are known from.
func (x *Index) migrated(ctx context.Context) (found sources, err error) {
	err = x.retrying(ctx, func(db *migrations.DB) error {
		found, err = x.hiddenSources(ctx, db)
		return err
	})
	return found, err
}

// sourceKeys are the sessions.key of the hidden files.
func (x *Index) sourceKeys(ctx context.Context, db *migrations.DB) ([]int64, error) {
	found, err := x.hiddenSources(ctx, db)
	var keys []int64
	for _, m := range found {
		var some []int64
		err := db.SelectContext(ctx, &some, `
			SELECT s.key FROM sessions s JOIN scopes c ON c.id = s.scope
			WHERE c.name = ? AND s.name = ? AND (? = '' OR EXISTS (
				SELECT 1 FROM sessions d JOIN scopes e ON e.id = d.scope WHERE e.name = ? AND d.name = ? AND d.id = ?))`,
			m.From[0], m.From[1], m.To[0], m.To[0], m.To[1], m.ID)
		if err != nil {
			return nil, err
		}
		keys = append(keys, some...)
	}
	return keys, err
}

// hide leaves the hidden files out of rows.
func (x *Index) hide(rows []Row, found sources) []Row {
	ids := map[string]string{}
	for i := range rows {
		ids[rows[i].Path] = rows[i].ID
	}
	return slices.DeleteFunc(rows, func(r Row) bool {
		m, ok := found[r.Path]
		if !ok {
			return false
		}
		id, there := ids[x.fileAt(m.To[0], m.To[1])]
		return !there || id == m.ID
	})
}

func storedSources(ctx context.Context, db *migrations.DB) (movedFiles, error) {
	var had movedFiles
	if db == nil {
		return had, nil
	}
	var list []string
	err := db.SelectContext(ctx, &list, `SELECT value FROM meta WHERE name = 'sources'`)
	if err == nil && len(list) == 1 && json.Unmarshal([]byte(list[0]), &had) != nil {
		had = movedFiles{} // it is read again
	}
	return had, err
}

// storeSources keeps what was read; without it the next refresh reads it again.
func (x *Index) storeSources(ctx context.Context, db *migrations.DB, m movedFiles) {
	text, err := json.Marshal(m)
	if err != nil || db == nil || db.ReadOnly() {
		return
	}
	_ = db.TryWrite(ctx, func(tx *sqlx.Tx) error { return setMeta(ctx, tx, "sources", string(text)) })
}

// stampReceipts is a sum of what the receipts are read from: the directories of
// the protocol and the files of older layouts. young: it may change unseen.
func (x *Index) stampReceipts(w *walk) (stamp string, young bool) {
	sum := sha256.New()
	now := x.opt.Now().UnixNano()
	for i := range w.scopes {
		s := &w.scopes[i]
		if isLegacy(s.name) {
			fmt.Fprintf(sum, "%q %x\n", s.name, s.digest())
			continue
		}
		at := &scope.Scope{Dir: filepath.Join(w.root, s.name)}
		for _, dir := range []string{at.Receipts(), at.Tombstones()} {
			info, err := x.fsys.Lstat(dir)
			if err != nil {
				continue
			}
			young = young || x.racyAt(info, now)
			b := binary.LittleEndian.AppendUint64([]byte(s.name), info.Inode)
			b = binary.LittleEndian.AppendUint64(b, uint64(info.ModTime))
			_, _ = sum.Write(binary.LittleEndian.AppendUint64(b, uint64(info.ChangeTime))) // a hash never fails
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), young
}

// readReceipts reads all receipts. One that can't be read hides nothing.
func (x *Index) readReceipts(ctx context.Context, w *walk) (movedFiles, error) {
	var all movedFiles
	legacy := map[[2]string]*diskFile{}
	for i := range w.scopes {
		for j := range w.scopes[i].files {
			if isLegacy(w.scopes[i].name) {
				legacy[[2]string{w.scopes[i].name, w.scopes[i].files[j].name}] = &w.scopes[i].files[j]
			}
		}
	}
	for i := range w.scopes {
		s := &w.scopes[i]
		digest, ok := scope.DigestOf(s.name)
		if !ok {
			continue
		}
		at := &scope.Scope{Dir: filepath.Join(w.root, s.name)}
		deleted := map[string]bool{}
		x.eachRecord(at.Tombstones(), "retired", digest, func(v jsonl.Value) {
			for _, t := range v.Get("targets").Items() {
				deleted[t.Get("path").Str()+"\n"+t.Get("sessionId").Str()] = true
			}
		})
		x.eachRecord(at.Receipts(), "committed", digest, func(v jsonl.Value) {
			from, to := v.Get("source"), v.Get("destination")
			m := movedFile{placeOfPath(from.Get("path").Str()), placeOfPath(to.Get("path").Str()), to.Get("sessionId").Str()}
			if f := legacy[m.From]; m.To[0] != s.name || f == nil || !x.isCopied(f, w.path(m.From[0], m.From[1]), from.Get("identity")) {
				return
			}
			if deleted[to.Get("path").Str()+"\n"+to.Get("sessionId").Str()] {
				m.To = [2]string{} // the session was deleted, and its source with it
			}
			all.Files = append(all.Files, m)
		})
		if err := ctx.Err(); err != nil {
			return all, err
		}
	}
	return all, nil
}

// eachRecord calls do for each record of the protocol that has the state.
func (x *Index) eachRecord(dir, state, digest string, do func(v jsonl.Value)) {
	list, err := x.fsys.ReadDir(dir)
	if err != nil {
		return // there is none
	}
	for _, e := range list {
		staged := strings.HasSuffix(e.Name, ".prepared.json") || strings.HasSuffix(e.Name, ".published.json")
		if !strings.HasSuffix(e.Name, ".json") || staged || strings.Contains(e.Name, ".cleanup-") {
			continue
		}
		text, err := storage.ReadFile(x.fsys, filepath.Join(dir, e.Name), maxReceipt)
		if err != nil {
			continue
		}
		v, err := jsonl.ParseString(string(text))
		if err == nil && v.Get("schemaVersion").Num() == 2 && v.Get("state").Str() == state && v.Get("scope").Str() == digest {
			do(v)
		}
	}
}

// placeOfPath is the directory and the name of a session file.
func placeOfPath(path string) [2]string {
	return [2]string{filepath.Base(filepath.Dir(path)), filepath.Base(path)}
}

// isCopied reports whether a file still is what a receipt says was copied.
func (x *Index) isCopied(f *diskFile, path string, was jsonl.Value) bool {
	i := &f.info
	if f.refused != "" || was.Get("ino").Str() != strconv.FormatUint(i.Inode, 10) || int64(was.Get("size").Num()) != i.Size ||
		was.Get("mtimeNs").Str() != strconv.FormatInt(i.ModTime, 10) {
		return false
	}
	if i.ChangeTime != 0 && was.Get("ctimeNs").Str() == strconv.FormatInt(i.ChangeTime, 10) {
		return true
	}
	sum, err := x.sumFile(path)
	return err == nil && sum == was.Get("sha256").Str()
}

func (x *Index) sumFile(path string) (sum string, err error) {
	f, err := x.fsys.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), err
}
