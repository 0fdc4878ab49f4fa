package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/index"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
)

// app is what all commands share: the flags that each has, and where they
// read and print.
type app struct {
	stdin  io.Reader
	stdout io.Writer
	out    *bufio.Writer // stdout
	stderr io.Writer
	fsys   storage.FS
	now    func() time.Time
	env    func(string) string
	screen screen

	home, sessionDir       string
	config, colour         string // of --config and --colour
	set                    configured
	json, quiet, noRefresh bool
	maxLine                int64

	projectsMu sync.Mutex
	projects   map[string]string // by directory

	noted map[string]bool // what the index noted and was told

	patience time.Duration // how long a lock on a database is waited for; 0: as long as is usual

	collects bool  // garbage is collected as a build does
	huge     int64 // bytes from which a session is read line by line

	failed  []index.Failure // what the refresh could not read
	leftOut int             // files or lines left out: exit status 3
}

func newApp(stdin io.Reader, stdout, stderr io.Writer) *app {
	return &app{
		stdin: stdin, stdout: stdout, out: bufio.NewWriterSize(stdout, 64<<10), stderr: stderr,
		fsys: storage.Disk(storage.Policy{}), now: time.Now, env: os.Getenv,
		screen: screenOf(stdout, os.Getenv), projects: map[string]string{}, noted: map[string]bool{}, huge: hugeFile,
	}
}

func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:   "gjc-index",
		Short: "List, search and read the sessions of coding agents",
		Long: `gjc-index lists all sessions of all projects, finds any prompt you ever typed,
and reads one session, its tree and its model context. Without arguments on a
terminal it opens the picker (gjc-index pick).

The session files are the truth. The index beside them (index.db) is made from
them, kept fresh by each command, and can be thrown away at any time.`,
		Example: `  gjc-index list --limit 20
  gjc-index search retry timeout
  gjc-index show 0195c2`,
		SilenceErrors: true, SilenceUsage: true,
		Version:                    version,
		Args:                       rootArgs,
		RunE:                       a.bare,
		PersistentPreRunE:          a.checkFlags,
		SuggestionsMinimumDistance: 2,
	}
	root.SetVersionTemplate("gjc-index {{.Version}}\n")
	f := root.PersistentFlags()
	f.StringVar(&a.home, "home", "", "the agent's directory `DIR` (default: found as the README says)")
	f.StringVar(&a.sessionDir, "session-dir", "", "the session files in `DIR` instead of a home; answered from the files")
	f.BoolVar(&a.json, "json", false, "print one JSON object a line")
	f.BoolVarP(&a.quiet, "quiet", "q", false, "no notes and no progress on stderr")
	f.BoolVar(&a.noRefresh, "no-refresh", false, "answer from the index as it is")
	f.StringVar(&a.config, "config", "", "read the settings in `FILE`, or with none no file at all")
	f.StringVar(&a.colour, "colour", "", "`WHEN` to print in colour: auto, always or never")
	f.StringVar(&a.colour, "color", "", "the same")
	f.Lookup("color").Hidden = true
	f.Int64Var(&a.maxLine, "max-line", 0, "the longest line that is read, in `BYTES` (default 256 MiB)")
	root.SetFlagErrorFunc(wrongFlag)
	root.SetHelpCommand(helpCommand(root))
	root.AddCommand(a.pickCommand(), a.listCommand(), a.searchCommand(), a.showCommand(), a.treeCommand(), a.contextCommand(),
		a.historyCommand(), a.reindexCommand(), a.statusCommand(), a.verifyCommand(), a.versionCommand(), a.configCommand(), a.watchCommand(), a.mcpCommand())
	root.AddCommand(a.sessionCommands()...)
	root.AddCommand(a.lifeCommands()...)
	root.AddCommand(a.exportCommands()...)
	root.AddCommand(a.overviewCommands()...)
	root.InitDefaultCompletionCmd()
	if c, _, err := root.Find([]string{"completion"}); err == nil {
		c.Args, c.RunE = rootArgs, func(c *cobra.Command, _ []string) error { return c.Help() }
		c.Example = "  source <(gjc-index completion bash)"
		for _, sub := range c.Commands() {
			sub.Example = "  " + sub.CommandPath()
		}
	}
	complete(root, "colour", colours...)
	groupCommands(root)
	a.completeAll(root, a.offeredFlags())
	return root
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: noArgs,
		Example: "  gjc-index version",
		RunE: func(*cobra.Command, []string) error {
			if a.json {
				return a.printJSON(struct {
					Version string `json:"version"`
				}{version})
			}
			a.printf("gjc-index %s\n", version)
			return nil
		},
	}
}

// homeDir finds the home that the flags and the environment name.
func (a *app) homeDir() (scope.Home, error) {
	if info, err := a.fsys.Lstat(a.home); a.home != "" && err == nil && info.Kind == storage.Regular {
		return scope.Home{}, usagef("--home %s is a file: a home is a directory, with one of sessions in it", a.home)
	}
	user, _ := os.UserHomeDir() // an error is met below, where the directory is needed
	return scope.FindHome(a.home, a.env, user, func(dir string) bool {
		info, err := a.fsys.Lstat(dir)
		return err == nil && info.Kind == storage.Dir
	})
}

// openIndex opens the index of the home, or one made in memory from the
// directory that --session-dir names, and brings it up to date.
func (a *app) openIndex(ctx context.Context) (*index.Index, error) {
	bar := a.progressBar()
	opt := a.options(bar)
	opt.Watched = true
	x, err := a.open(ctx, opt)
	if err != nil {
		return nil, err
	}
	if !a.noRefresh || a.sessionDir != "" {
		rep, err := x.Refresh(ctx)
		bar.done()
		if err != nil {
			_ = x.Close()
			return nil, err
		}
		a.failed = rep.Failed
		if rep.Busy && !slices.ContainsFunc(x.Notes(), func(n string) bool { return strings.HasPrefix(n, "index is busy") }) {
			a.note("another process is writing the index: what changed since its last refresh is read from the files")
		}
	}
	a.sayNotes(x)
	return x, nil
}

// sayNotes says what the index noted since it was asked last.
func (a *app) sayNotes(x *index.Index) {
	for _, note := range x.Notes() {
		if !a.noted[note] {
			a.noted[note] = true
			a.note("%s", note)
		}
	}
}

func (a *app) options(bar *buildBar) index.Options {
	return index.Options{Now: a.now, BusyTimeout: a.patience, MaxLine: a.maxLine, Project: a.projectOf, Progress: func(p index.Progress) {
		a.collectGC(p)
		bar.show(p)
	}}
}

func (a *app) open(ctx context.Context, opt index.Options) (*index.Index, error) {
	if a.sessionDir != "" {
		dir, err := a.absolute(a.sessionDir)
		if err != nil {
			return nil, err
		}
		return index.OpenDir(ctx, readOnly{a.fsys}, dir, opt)
	}
	home, err := a.homeDir()
	if err != nil {
		return nil, err
	}
	return index.Open(ctx, a.fsys, home, opt)
}

// withIndex opens the index for the time of fn.
func (a *app) withIndex(ctx context.Context, fn func(x *index.Index) error) (err error) {
	x, err := a.openIndex(ctx)
	if err != nil {
		return err
	}
	defer func() {
		a.sayNotes(x)
		if cerr := x.Close(); err == nil {
			err = cerr
		}
	}()
	return fn(x)
}

// projectOf is the project that a directory belongs to. Most sessions share
// few directories, and each costs some looks at the disk.
func (a *app) projectOf(cwd string) string {
	a.projectsMu.Lock()
	defer a.projectsMu.Unlock()
	project, ok := a.projects[cwd]
	if !ok {
		project = scope.ProjectOf(a.fsys, cwd)
		a.projects[cwd] = project
	}
	return project
}
