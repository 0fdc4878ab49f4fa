// Command corpus generates a home of session files for trying things out.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/gajae-code/gjc-index/internal/corpus"
)

func main() {
	size := flag.String("size", "", "S (200 files, 24 MB), M (2,000, 440 MB) or L (10,000, 2 GB)")
	files := flag.Int("files", 0, "session files")
	bytes := flag.Int64("bytes", 0, "bytes of all session files")
	scopes := flag.Int("scopes", 0, "workspaces")
	damaged := flag.Int("damaged", 0, "damaged files of 1,000")
	seed := flag.Uint64("seed", 1, "seed")
	big := flag.Int64("big", 0, "write one linear, compacted session of so many bytes to DIR (then a file) instead")
	live := flag.Int64("live", 300_000, "with -big: bytes after the last compaction")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: corpus [-size S|M|L] [-files N] [-bytes N] DIR")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	if *big > 0 {
		if err := corpus.BigSession(flag.Arg(0), "big00001", "/proj/big", *big, *live); err != nil {
			fmt.Fprintln(os.Stderr, "corpus:", err)
			os.Exit(1)
		}
		return
	}
	o := corpus.Sizes[*size]
	if *files > 0 {
		o.Files = *files
	}
	if *bytes > 0 {
		o.Bytes = *bytes
	}
	o.Scopes, o.Damaged, o.Seed = *scopes, *damaged, *seed
	rep, err := corpus.Generate(flag.Arg(0), o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "corpus:", err)
		os.Exit(1)
	}
	fmt.Printf("home %s\nworkspaces %s\nfiles %d, damaged %d, bytes %d, prompts for history %d\n",
		rep.Home, rep.Workspaces, rep.Files, rep.Damaged, rep.Bytes, len(rep.Prompts))
}
