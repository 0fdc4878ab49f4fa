package scope

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
)

// bindingName is the file in a scope that says whose it is.
const bindingName = ".gjc-managed-session-scope.v2.json"

// maxBinding is far above any path; a longer file is no binding.
const maxBinding = 64 << 10

// bindingBytes is the one encoding of the binding that is accepted.
func bindingBytes(id Identity) []byte {
	o := jsonl.NewObj(
		jsonl.Member{Key: "schemaVersion", Value: jsonl.NumberValue(1)},
		jsonl.Member{Key: "layoutVersion", Value: jsonl.NumberValue(2)},
		jsonl.Member{Key: "identityVersion", Value: jsonl.NumberValue(1)},
		jsonl.Member{Key: "platform", Value: jsonl.StringValue(id.Platform)},
		jsonl.Member{Key: "canonicalPath", Value: jsonl.StringValue(id.Canonical)},
		jsonl.Member{Key: "identityDigest", Value: jsonl.StringValue(id.Digest)},
	)
	return append(jsonl.AppendJSON(nil, jsonl.ObjectValue(o)), '\n')
}

// readBinding checks the binding in dir, in the order of behaviour, part 17:
// is it JSON, has it the shape, is it ours, is it byte for byte as we would
// write it. bound is false if there is none, which is fine for reading.
func readBinding(fsys storage.FS, dir string, id Identity) (bound bool, err error) {
	path := filepath.Join(dir, bindingName)
	info, err := fsys.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = plainFile(path, info)
	}
	var raw []byte
	if err == nil {
		raw, err = storage.ReadFile(fsys, path, maxBinding)
	}
	if err != nil {
		e := refuse(BindingInvalid, path, "binding can't be read safely", "The managed scope binding is invalid JSON.", err)
		e.Class = string(BindingInvalid)
		return false, e
	}
	return true, checkBinding(path, raw, id)
}

// plainFile refuses what is no regular file with one link and one owner: us.
func plainFile(path string, info storage.Info) error {
	switch {
	case info.Kind == storage.Symlink:
		return &storage.UnsafeError{Path: path, Reason: "is a symbolic link"}
	case info.Kind != storage.Regular:
		return &storage.UnsafeError{Path: path, Reason: "is not a regular file"}
	case info.Links != 1:
		return &storage.UnsafeError{Path: path, Reason: "has more than one hard link"}
	case !ours(info):
		return &storage.UnsafeError{Path: path, Reason: "belongs to another user"}
	}
	return nil
}

func checkBinding(path string, raw []byte, id Identity) error {
	v, err := jsonl.ParseString(string(raw))
	if err != nil {
		return refuse(BindingInvalid, path, "binding is not JSON", "The managed scope binding is invalid JSON.", nil)
	}
	if !bindingShape(v) {
		return refuse(BindingInvalid, path, "binding has another shape", "The managed scope binding is invalid.", nil)
	}
	if v.Get("platform").Str() != id.Platform || v.Get("canonicalPath").Str() != id.Canonical || v.Get("identityDigest").Str() != id.Digest {
		return refuse(BindingConflict, path, "binding names another workspace", "The managed scope binding belongs to another workspace.", nil)
	}
	if string(raw) != string(bindingBytes(id)) {
		return refuse(BindingInvalid, path, "binding is not in its canonical encoding", "The managed scope binding is not canonically encoded.", nil)
	}
	return nil
}

func bindingShape(v jsonl.Value) bool {
	is := func(key string, n float64) bool { return v.Get(key).Is(jsonl.Number) && v.Get(key).Num() == n }
	platform := v.Get("platform").Str()
	return is("schemaVersion", 1) && is("layoutVersion", 2) && is("identityVersion", 1) &&
		(platform == Posix || platform == Win32) && v.Get("canonicalPath").Is(jsonl.String) &&
		inAlphabet(v.Get("identityDigest").Str())
}

// publishBinding writes the binding where there is none. Another process that
// is faster wins, since both write the same bytes.
func publishBinding(ctx context.Context, fsys storage.FS, dir string, id Identity) error {
	err := storage.Publish(ctx, fsys, filepath.Join(dir, bindingName), 0o600, func(w io.Writer) error {
		_, err := w.Write(bindingBytes(id))
		return err
	})
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}
