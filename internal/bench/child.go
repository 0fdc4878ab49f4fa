package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// childVar makes this program run one command and print what it took. A process
// begins with the peak memory of the one that started it, so the one that
// starts what is measured must be small.
const childVar = "GJC_BENCH_CHILD"

// spent is what a process took.
type spent struct {
	wall, cpu time.Duration
	memory    int64 // bytes at the most
}

func runChild(args []string) int {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stderr = os.Stderr
	start := time.Now()
	err := cmd.Run()
	wall := time.Since(start)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 3 {
		err = nil // damaged files, which the corpora have
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 1
	}
	st := cmd.ProcessState
	fmt.Println(int64(wall), int64(st.UserTime()+st.SystemTime()), peakMemory(st))
	return 0
}

// measured runs the command and gives what it took.
func (b *bench) measured(args ...string) (s spent, err error) {
	self, err := os.Executable()
	if err != nil {
		return s, err
	}
	cmd := exec.Command(self, append([]string{"--", b.command}, args...)...)
	cmd.Env, cmd.Stderr = append(os.Environ(), childVar+"=1"), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return s, fmt.Errorf("run %v: %w", args, err)
	}
	_, err = fmt.Fscan(bytes.NewReader(out), &s.wall, &s.cpu, &s.memory)
	return s, err
}
