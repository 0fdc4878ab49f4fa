// Command release builds the command for every platform, static and the same
// from the same sources wherever it is built, beside a list of checksums. What
// the project promises of the binaries is checked.
//
//	go run ./internal/release -version v1.2.3 -dir dist
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

const (
	maxBytes = 30_000_000            // of a binary
	maxStart = 15 * time.Millisecond // of gjc-index version, the quickest of tries
	tries    = 20
)

// platforms are those that the command is built for.
var platforms = [][2]string{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
}

func main() {
	version := flag.String("version", "dev", "what the binaries say of themselves")
	dir := flag.String("dir", "dist", "where they go")
	only := flag.String("only", "", "only `GOOS/GOARCH`")
	flag.Parse()
	if err := release(*version, *dir, *only); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func release(version, dir, only string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var sums strings.Builder
	for _, p := range platforms {
		if only != "" && only != p[0]+"/"+p[1] {
			continue
		}
		name := fileName(version, p[0], p[1])
		path := filepath.Join(dir, name)
		if err := build(version, path, p[0], p[1]); err != nil {
			return fmt.Errorf("build %s: %w", name, err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if len(data) > maxBytes {
			return fmt.Errorf("%s has %d bytes, more than %d", name, len(data), maxBytes)
		}
		sum := sha256.Sum256(data)
		fmt.Fprintf(&sums, "%s  %s\n", hex.EncodeToString(sum[:]), name)
		said := ""
		if p[0] == runtime.GOOS && p[1] == runtime.GOARCH {
			if said, err = checkHost(path, version); err != nil {
				return err
			}
		}
		fmt.Printf("%s  %.1f MB%s\n", path, float64(len(data))/1e6, said)
	}
	return os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(sums.String()), 0o644)
}

func fileName(version, goos, goarch string) string {
	name := "gjc-index_" + version + "_" + goos + "_" + goarch
	if goos == "windows" {
		name += ".exe"
	}
	return name
}

// build makes one binary: no C, no paths of this machine, no build id, nothing
// of the state of a checkout but the version.
func build(version, path, goos, goarch string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false",
		"-ldflags", "-s -w -buildid= -X main.version="+version, "-o", path, "./cmd/gjc-index")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch, "GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run()
}

// checkHost runs the binary of this machine.
func checkHost(path, version string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	best := time.Hour
	for range tries {
		begun := time.Now()
		out, err := exec.Command(path, "version").Output()
		best = min(best, time.Since(begun))
		if err != nil {
			return "", fmt.Errorf("run %s version: %w", path, err)
		}
		if want := "gjc-index " + version + "\n"; string(out) != want {
			return "", fmt.Errorf("%s version says %q, want %q", path, out, want)
		}
	}
	if best > maxStart {
		return "", fmt.Errorf("%s version takes %v, more than %v", path, best, maxStart)
	}
	return fmt.Sprintf("  version in %.1f ms", float64(best.Microseconds())/1000), nil
}
