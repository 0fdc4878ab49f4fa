package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/session"
)

func (a *app) appendCommand() *cobra.Command {
	var f writeFlags
	var each, force bool
	cmd := &cobra.Command{
		Use:   "append ID",
		Short: "Append entries, given as JSON lines on stdin",
		Long: `Append entries to a session. stdin holds one JSON object a line: an entry's
"type" and what its type asks for. The session gives each its id, its parent
(the entry before it) and its time; what a line says of these is not taken. An
id has 8 digits; one given here has 16, since the ids in the file are not read
to see that it is new.

All of stdin is read and checked first: if one line is no entry, nothing is
done, and the line's number and the reason are told (exit status 2). So it is
with a message of a role that no agent writes, and a label on an entry that the
session doesn't have, unless --force is given. Then all
entries are appended as one batch, with one write, or with --each one by one.
Once the session is closed, and with that on disk, one object a batch is
printed: {"outcome","ids"}.

  outcome       exit
  committed      0    the entries are in the file
  deferred       0    kept until the session's first answer
  rolled_back    7    none of them is in the file
  uncertain      8    it is not known how much of them is; read it before you go on

With --each the first batch that fails is the last. A session that another
process writes is refused at once (exit status 5), or waited for with --wait.`,
		Example: `  echo '{"type":"message","message":{"role":"user","content":"hello"}}' | gjc-index append 0195c2
  gjc-index append 0195c2 --sync --wait 5s < turn.jsonl`,
		Args: oneArg("a session id"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.append(cmd.Context(), args[0], f, each, force) },
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&f.sync, "sync", false, "each batch is on the medium before the next one begins")
	cmd.Flags().BoolVar(&each, "each", false, "each entry is a batch of its own")
	cmd.Flags().BoolVar(&force, "force", false, "also take unknown roles, and labels on entries that are not there")
	return cmd
}

// receiptJSON is what became of a batch; fields are only ever added.
type receiptJSON struct {
	Outcome string   `json:"outcome"`
	IDs     []string `json:"ids"`
}

func (a *app) append(ctx context.Context, ref string, f writeFlags, each, force bool) error {
	if _, err := a.policy(f); err != nil {
		return err
	}
	if !isPath(ref) && !canBeID(ref) {
		_, err := a.target(ctx, ref) // says so before stdin is read
		return err
	}
	if a.stdinTerminal() {
		a.note("reads entries as JSON, one a line, until Ctrl-D")
	}
	entries, replaced, err := a.awaitEntries(ctx)
	if err != nil {
		return err
	}
	if !force {
		if err := unknownRole(entries); err != nil {
			return err
		}
	}
	if replaced > 0 {
		a.note("%s had an id, a parent or a time: the session gave its own", count(replaced, "entry"))
	}
	batches := [][]session.New{entries}
	if each {
		batches = batches[:0]
		for i := range entries {
			batches = append(batches, entries[i:i+1])
		}
	}
	var receipts []session.Receipt
	var onDisk bool
	var path string
	look := !force && hasLabels(entries)
	err = a.withSession(ctx, ref, f, session.OpenOptions{AppendOnly: !look}, func(s *session.Session) (err error) {
		if look {
			if err := missingTarget(ctx, s, entries); err != nil {
				return err
			}
		}
		receipts, err = appendBatches(ctx, s, batches)
		onDisk, path = s.OnDisk(), s.Path()
		return err
	})
	perr := a.printReceipts(receipts, onDisk, err)
	if err == nil && perr == nil && onDisk {
		perr = a.sumUp(ctx, path)
	}
	return errors.Join(err, perr)
}

// awaitEntries reads the entries on stdin.
func (a *app) awaitEntries(ctx context.Context) ([]session.New, int, error) {
	longest := a.maxLine
	if longest <= 0 {
		longest = jsonl.DefaultMaxLine
	}
	var entries []session.New
	var replaced int
	var err error
	if ended := await(ctx, func() { entries, replaced, err = readEntries(a.stdin, longest, maxInput) }); ended != nil {
		return nil, 0, ended
	}
	return entries, replaced, err
}

// appendBatches appends one batch after the other until one fails.
func appendBatches(ctx context.Context, s *session.Session, batches [][]session.New) ([]session.Receipt, error) {
	var receipts []session.Receipt
	for _, batch := range batches {
		r, err := s.AppendBatch(ctx, batch...)
		receipts = append(receipts, r)
		if err != nil {
			return receipts, err
		}
	}
	return receipts, nil
}

// printReceipts prints what became of each batch, now that the session is
// closed: what was committed is durable unless closing failed.
func (a *app) printReceipts(receipts []session.Receipt, onDisk bool, err error) error {
	unsure := false
	var failed *jsonl.AppendError
	if last := len(receipts) - 1; last >= 0 && receipts[last].Outcome == jsonl.Committed {
		unsure = errors.As(err, &failed) && failed.Outcome == jsonl.Uncertain // by the sync of Close
	}
	for _, r := range receipts {
		switch {
		case r.Outcome == jsonl.Committed && unsure:
			r.Outcome = jsonl.Uncertain
		case r.Outcome == jsonl.Deferred && onDisk && err == nil:
			r.Outcome = jsonl.Committed
		}
		if err := a.printJSON(receiptJSON{r.Outcome.String(), append([]string{}, r.IDs...)}); err != nil {
			return err
		}
	}
	return nil
}
