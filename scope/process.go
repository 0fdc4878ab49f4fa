package scope

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"os"
	"time"
)

// Process is who takes the locks of the migration protocol, and with which
// clock and ids. Tests set the fields; ThisProcess has the real ones.
type Process struct {
	PID     int
	BootID  string // of the running system; "" if it has none
	StartID string // of this process
	Now     func() time.Time
	UUID    func() string // a random UUID in lower case
	// Alive reports whether a process of this system exists.
	Alive func(pid int) bool
	// Wait pauses for d or until ctx ends.
	Wait func(ctx context.Context, d time.Duration) error
}

// ThisProcess is the running process.
func ThisProcess() *Process {
	return &Process{
		PID: os.Getpid(), BootID: bootID(), StartID: randomUUID(),
		Now: time.Now, UUID: randomUUID, Alive: processAlive, Wait: pause,
	}
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

func randomUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	x := hex.EncodeToString(b[:])
	return x[:8] + "-" + x[8:12] + "-" + x[12:16] + "-" + x[16:20] + "-" + x[20:]
}
