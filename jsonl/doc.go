// Package jsonl is the format of a session file: records, entries, patches,
// versions, the tree and the context. It knows nothing of directories,
// workspaces, locks, the clock or SQL.
package jsonl
