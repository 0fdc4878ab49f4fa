package main

import (
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/gajae-code/gjc-index/index"
)

// slowBuild is how long a build may take before a bar shows how far it is.
const slowBuild = time.Second

// buildBar shows on a terminal how far a build has come, if it takes long.
type buildBar struct {
	on    bool
	what  string // is done; "" is a build
	start time.Time
	bar   *progressbar.ProgressBar
}

func (a *app) progressBar() *buildBar {
	f, ok := a.stderr.(*os.File)
	return &buildBar{on: ok && !a.quiet && term.IsTerminal(int(f.Fd())), start: time.Now()}
}

func (b *buildBar) show(p index.Progress) {
	if !b.on || time.Since(b.start) < slowBuild {
		return
	}
	if b.what == "" {
		b.what = "indexing"
	}
	if b.bar == nil {
		b.bar = progressbar.NewOptions64(p.TotalBytes,
			progressbar.OptionSetWriter(os.Stderr), progressbar.OptionShowBytes(true),
			progressbar.OptionSetDescription(b.what), progressbar.OptionClearOnFinish(),
			progressbar.OptionThrottle(100*time.Millisecond))
	}
	b.bar.ChangeMax64(max(p.TotalBytes, p.Bytes))
	_ = b.bar.Set64(p.Bytes) // a bar that can't be drawn is no error
}

// count shows how many things were looked at, where nobody knows how many there
// are.
func (b *buildBar) count(n int) {
	if !b.on || time.Since(b.start) < slowBuild {
		return
	}
	if b.bar == nil {
		b.bar = progressbar.NewOptions(-1, progressbar.OptionSetWriter(os.Stderr), progressbar.OptionSetDescription("checking"),
			progressbar.OptionShowCount(), progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(100*time.Millisecond))
	}
	_ = b.bar.Set(n) // a bar that can't be drawn is no error
}

func (b *buildBar) done() {
	if b.bar != nil {
		_ = b.bar.Finish()
	}
}
