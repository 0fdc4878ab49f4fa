package main

import (
	"context"
	"time"

	"github.com/gajae-code/gjc-index/index"
)

// pickAsk is what the picker's list shows.
type pickAsk struct {
	text    string
	project string // "" is all
	sort    index.Sort
	reverse bool
	limit   int  // of a list without text; a search gives all it finds
	deep    bool // search longer, after a first answer
}

// pickItem is one line of the list.
type pickItem struct {
	index.Row        // its first prompt is cut
	pinned    bool   // as far as is known
	found     string // the text that was found, on one line; "" where title, directory or id match
}

// pickRows is the answer to a pickAsk.
type pickRows struct {
	items   []pickItem
	total   int    // what the ask selects, items or not
	all     int    // sessions there are
	leftOut int    // files that no list has
	partial bool   // there may be more: search deeper
	empty   string // why there is nothing at all; "" where there is something
}

// pickPrompt is one text of a conversation.
type pickPrompt struct {
	who  string
	when time.Time
	text string // cut
}

// pickLook is what the preview says of one session.
type pickLook struct {
	row      index.Row
	age      int    // of the picker, when it was looked
	short    string // of its id
	model    string
	cost     *float64
	tokens   float64
	pinned   bool
	archived bool
	entries  int // of the tree
	leaves   int
	labels   []string
	prompts  int          // on the way to the last entry
	first    []pickPrompt // the first, if it is not among the last
	last     []pickPrompt
	label    string // on the entry that a label would go to
	target   string // that entry's id
	trouble  string // why there is no conversation to show
}

// pickAct is something that can be done to a session.
type pickAct uint8

// The acts.
const (
	actNone pickAct = iota
	actPin          // or unpin
	actLabel
	actTitle
	actExport
	actArchive
	actTrash
	actUndo
)

// pickDone is what came of an act.
type pickDone struct {
	text  string // for the status line
	bad   bool   // it was not done
	trash string // where a session lies now: undo brings it back
	path  string // the session that the cursor goes to
}

// pickStore is what the picker shows and changes. Everything but close may
// wait, ends with its context, and is called by several goroutines.
type pickStore interface {
	rows(ctx context.Context, ask pickAsk) (pickRows, error)
	look(ctx context.Context, item pickItem) (pickLook, error)
	refresh(ctx context.Context) (note string, err error)
	progress() (files, total int) // of a build that is going on
	here() string                 // the project of the working directory
	act(ctx context.Context, act pickAct, item pickItem, arg string) pickDone
	canEnd(item pickItem, end pickEnd) error // why a session can't be chosen so
	exportName(item pickItem) string
}
