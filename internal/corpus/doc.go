// Package corpus generates homes full of session files, always the same ones
// for a seed: for benchmarks, the demo and tests. By hand:
//
//	go run ./internal/corpus/cmd -size M DIR
//
// A generated home holds sessions of the versions 1 to 5 in managed scopes
// with binding files and workspaces that exist, in legacy directories, some
// with subagent transcripts; branches, labels, compactions, patches, tool
// results of up to 100 KB, prompts in many scripts, images in the blob store,
// rows of history.db, and damaged files.
package corpus
