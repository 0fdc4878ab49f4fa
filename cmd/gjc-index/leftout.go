package main

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/gajae-code/gjc-index/index"
)

// leftOutFile is a file that an answer leaves out, and why.
type leftOutFile struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
	state  index.State
}

// leftOutNote is what --json says on stderr of files left out.
type leftOutNote struct {
	Note  string        `json:"note"`
	Files []leftOutFile `json:"files"`
}

// badFiles are the files that no list and no search looks into: those of the
// index, and what the refresh before could not read. A file that holds nothing
// is not among them: it hides nothing.
func (a *app) badFiles(ctx context.Context, x *index.Index) ([]leftOutFile, error) {
	rows, _, err := x.Sessions(ctx, index.Filter{Damaged: index.DamagedLost, Children: true})
	if err != nil {
		return nil, err
	}
	var files []leftOutFile
	known := map[string]bool{}
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		known[row.Path] = true
		files = append(files, leftOutFile{row.Path, row.Damage, row.State})
	}
	archives, err := x.UnreadArchives(ctx)
	if err != nil {
		return nil, err
	}
	for _, f := range archives {
		known[f.Path] = true
		files = append(files, leftOutFile{f.Path, f.Reason, stateArchive})
	}
	files = append(files, a.unindexed(known)...)
	slices.SortFunc(files, func(x, y leftOutFile) int { return cmp.Compare(x.Path, y.Path) })
	return files, nil
}

// unindexed are what the refresh could not read and the index has no row of,
// such as a directory.
func (a *app) unindexed(known map[string]bool) []leftOutFile {
	var files []leftOutFile
	for _, f := range a.failed {
		if !known[f.Path] {
			files = append(files, leftOutFile{f.Path, f.Reason, index.StateUnreadable})
		}
	}
	return files
}

// stateArchive is that of an archive that could not be read: what a session
// says itself is there.
const stateArchive index.State = "archive"

// kindsOfBad are in the order in which they are told.
var kindsOfBad = []struct {
	state index.State
	words string
}{
	{index.StateHeader, "damaged"},
	{index.StateNewer, "of a newer version"},
	{index.StateRefused, "refused"},
	{index.StateUnreadable, "unreadable"},
}

// sayLeftOut says in one note how many files were left out and why, and makes
// the exit status tell of them.
func (a *app) sayLeftOut(files []leftOutFile) {
	isArchive := func(f leftOutFile) bool { return f.state == stateArchive }
	if archives := slices.DeleteFunc(slices.Clone(files), func(f leftOutFile) bool { return !isArchive(f) }); len(archives) > 0 {
		a.sayArchives(archives)
	}
	if files = slices.DeleteFunc(slices.Clone(files), isArchive); len(files) == 0 {
		return
	}
	a.leftOut += len(files)
	if a.quiet {
		return
	}
	counts := map[index.State]int{}
	for _, f := range files {
		counts[f.state]++
	}
	var kinds []string
	for _, k := range kindsOfBad {
		if n := counts[k.state]; n > 0 {
			kinds = append(kinds, comma(n)+" "+k.words)
			delete(counts, k.state)
		}
	}
	rest := 0
	for _, n := range counts {
		rest += n
	}
	if rest > 0 {
		kinds = append(kinds, comma(rest)+" could not be read")
	}
	text := count(len(files), "file") + " left out (" + strings.Join(kinds, ", ") + "); gjc-index list --damaged names them"
	if a.json {
		a.sayJSON(leftOutNote{text, files})
		return
	}
	a.note("%s", text)
}

// sayArchives says which archives could not be read.
func (a *app) sayArchives(files []leftOutFile) {
	a.leftOut += len(files)
	if a.quiet {
		return
	}
	text := "what was archived of " + count(len(files), "session") + " can't be read, and is missing here (" +
		plain(baseName(files[0].Path)) + ": " + plain(files[0].Reason) + "); gjc-index doctor tells more"
	if a.json {
		a.sayJSON(leftOutNote{text, files})
		return
	}
	a.note("%s", text)
}
