package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/index"
	"github.com/gajae-code/gjc-index/scope"
)

// leastEvery is the shortest time between two walks of watch --every.
const leastEvery = time.Second

func (a *app) watchCommand() *cobra.Command {
	var every time.Duration
	cmd := &cobra.Command{
		Use:   "watch",
		Short: "Keep the index fresh while sessions are written, and tell of each change",
		Long: `Keep the index fresh until it is interrupted, and print each change: a session
that was added, changed or removed, a prompt, a label. It waits for the system's
notices and does not poll. What was there before is not told.

Other commands notice it: they ask it whether the index holds all that happened
so far, and look at the files themselves if it can't say so within a moment. On
Linux that spares them the look; elsewhere, and while a file is refused, they
look as ever.

With --json each change is a JSON object: kind (session, prompt or label), id,
path, cwd and time; of a session action (added, changed or removed), title and
damage; of a prompt entry and text; of a label entry and label, which is empty
where it was taken away; child of a subagent's.

One process watches a home; a second one ends at once (exit status 5).`,
		Example: `  gjc-index watch
  gjc-index watch --json | jq -r 'select(.kind == "prompt").text'
  gjc-index watch --every 5m`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("every") && every < leastEvery {
				return usagef("--every %v: it is a time from %v on", every, leastEvery)
			}
			return a.watch(cmd.Context(), every)
		},
	}
	cmd.Flags().DurationVar(&every, "every", 0, "where the system watches no more directories, look at all files each `D`, such as 5m")
	return cmd
}

// watchJSON is a change; fields are only ever added.
type watchJSON struct {
	Kind   string  `json:"kind"` // session, prompt or label
	ID     *string `json:"id"`   // of the session
	Path   string  `json:"path"`
	Cwd    string  `json:"cwd"`
	Time   *string `json:"time"`
	Action string  `json:"action,omitempty"` // of a session: added, changed or removed
	Title  string  `json:"title,omitempty"`
	Damage string  `json:"damage,omitempty"`
	Child  bool    `json:"child,omitempty"`
	Entry  string  `json:"entry,omitempty"` // of a prompt; of a label the one that it is on
	Text   *string `json:"text,omitempty"`  // of a prompt
	Label  *string `json:"label,omitempty"` // "": it was taken away
}

func (a *app) watch(ctx context.Context, every time.Duration) error {
	if err := a.homeOnly("what is watched is a home"); err != nil {
		return err
	}
	bar := a.progressBar()
	x, err := a.open(ctx, a.options(bar))
	if err != nil {
		return err
	}
	defer x.Close()
	home, err := a.homeDir()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	opt := index.WatchOptions{Every: every, Noted: func(text string) {
		if !a.noted[text] {
			a.noted[text] = true
			a.note("%s", text)
		}
	}}
	opt.Ready = func() {
		bar.done()
		a.note("watching %s; Ctrl-C ends it", home.Dir())
	}
	opt.Told = func(e index.WatchEvent) {
		if err := errors.Join(a.printChange(e), a.out.Flush()); err != nil {
			cancel(err)
		}
	}
	err = x.Watch(ctx, opt)
	bar.done()
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause // whoever read the changes is gone
	}
	return watchError(home.Dir(), err)
}

// watchError says what keeps a home from being watched, and what can be done.
func watchError(home string, err error) error {
	var other *index.WatchedError
	switch {
	case errors.As(err, &other):
		return fmt.Errorf("%s, and one is enough%w", other.Error(), silent{err})
	case errors.Is(err, index.ErrWatchLimit):
		return errors.New("the system watches no more directories: raise fs.inotify.max_user_watches (or max_user_instances) with sysctl, or give --every 5m to look at all files that often")
	case errors.Is(err, index.ErrHomeGone):
		return fmt.Errorf("%s was moved or removed: watch it again where it is now", home)
	case errors.Is(err, scope.ErrNetwork):
		return fmt.Errorf("%s; commands look at the files there, as ever%w", err.Error(), silent{err})
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no home %s to watch; --home DIR names another%w", home, silent{err})
	case errors.Is(err, index.ErrNoIndex):
		return errors.New("there can be no index to keep fresh here; gjc-index status says why")
	}
	return err
}

func (a *app) printChange(e index.WatchEvent) error {
	if a.json {
		out := watchJSON{Kind: string(e.Kind), ID: orNull(e.ID), Path: e.Path, Cwd: e.Cwd, Time: jsonTime(e.Time),
			Action: string(e.Action), Title: e.Title, Damage: e.Damage, Child: e.Child, Entry: e.Entry}
		switch e.Kind {
		case index.WatchPrompt:
			out.Text = &e.Text
		case index.WatchLabel:
			out.Label = &e.Text
		}
		return a.printJSON(out)
	}
	what, text := string(e.Kind), e.Text
	switch e.Kind {
	case index.WatchSession:
		what, text = string(e.Action), e.Title
		if e.Damage != "" {
			text = strings.TrimSpace(text + " ! " + e.Damage)
		}
	case index.WatchLabel:
		text = e.Entry + " " + e.Text
		if e.Text == "" {
			text = e.Entry + " (taken away)"
		}
	}
	id := e.ID
	if id == "" {
		id = baseName(e.Path)
	}
	where := beginning(plain(id), 8) + "  " + preview(baseName(e.Cwd), 20)
	line := fmt.Sprintf("%s  %-8s %s  %s", a.now().Local().Format("15:04:05"), what, where, plain(text))
	a.printf("%s\n", strings.TrimRight(fit(line, a.screen.width), " "))
	return nil
}
