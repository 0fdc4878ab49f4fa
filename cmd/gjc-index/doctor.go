package main

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/session"
)

type doctorFlags struct {
	fix, quick, verbose bool
}

func (a *app) doctorCommand() *cobra.Command {
	var f doctorFlags
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check everything, and say what mends what is wrong",
		Long: `Check everything in the home: who may read it, which workspace each directory
belongs to, every line of every session, what stands beside the sessions, images,
event ids, the trash, the index, the prompt history, disk and file system. Each
finding says what it means and the command that mends it. Nothing is changed.

--fix mends what can be mended without losing a byte: what a crash left half done
is finished, what is made from other files is made anew, what lies in the wrong
place goes back, and what can't be read is kept under another name. Damaged
sessions are left to repair.

bad means that something is lost, damaged or unsafe to use; then the exit status
is 3. warn means that somebody should know.`,
		Example: `  gjc-index doctor
  gjc-index doctor --fix
  gjc-index doctor --json | jq -r 'select(.state == "bad") | .fix'`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.doctor(cmd.Context(), f) },
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.fix, "fix", false, "mend what can be mended without losing a byte")
	fl.BoolVar(&f.quick, "quick", false, "leave out what takes long: sums of images, archives, the index against the files")
	fl.BoolVarP(&f.verbose, "verbose", "v", false, "say also what is well")
	return cmd
}

// findingJSON is a finding; fields are only ever added.
type findingJSON struct {
	Check  string  `json:"check"`
	State  string  `json:"state"` // ok, warn or bad
	Path   string  `json:"path"`
	Detail string  `json:"detail"`
	Fix    *string `json:"fix"`             // the command that mends it, or what to do
	Fixed  bool    `json:"fixed,omitempty"` // it was mended just now
}

// doctor runs all checks. Without --fix nothing can be written but index.db.
func (a *app) doctor(ctx context.Context, f doctorFlags) error {
	w := &ward{app: a, verbose: f.verbose, bar: a.progressBar()}
	defer w.bar.done()
	opt := session.DoctorOptions{Fix: f.fix, Quick: f.quick, MaxLine: a.maxLine, Progress: w.looksAt}
	dir, err := a.explicitDir()
	if err != nil {
		return err
	}
	if dir != "" && !a.isThere(dir) {
		return fmt.Errorf("%s is not there: name a directory of session files%w", dir, silent{fs.ErrNotExist})
	}
	opt.Dir = dir
	st, err := a.doctorStore(f.fix)
	if err != nil {
		return err
	}
	if err := st.Doctor(ctx, opt, w.take); err != nil {
		return err
	}
	if dir == "" {
		if err := a.databases(ctx, f, w); err != nil {
			return err
		}
	}
	w.bar.done()
	return w.sum(f.fix)
}

// doctorStore is the store of the home; without fix one that can't write.
func (a *app) doctorStore(fix bool) (*session.Store, error) {
	home, err := a.homeDir()
	if err != nil {
		return nil, err
	}
	opt := session.Options{Home: home, Now: a.now, Log: a.logger(), Unzstd: unzstd}
	if fix {
		return session.NewStore(a.fsys, opt), nil
	}
	return session.NewStore(readOnly{a.fsys}, opt), nil
}
