package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/session"
	"github.com/gajae-code/gjc-index/storage"
)

const (
	appends     = 10_000 // of each kind
	appendsTurn = 50     // that many follow one another before it is the other's turn
)

// appends measures what it costs to append a message to an open session, beside
// encoding the same line and writing it to a file that is open.
func (b *bench) appends(ctx context.Context) error {
	for _, size := range []int{200, 2_000, 20_000} {
		ours, plain, err := b.appendBeside(ctx, size)
		if err != nil {
			return err
		}
		b.add(fmt.Sprintf("append a message of %d bytes", size), us(ours), "encoded, O_APPEND "+us(plain), ratio(ours, plain), "1.3")
	}
	return nil
}

// appendBeside gives the median of one append of each kind.
func (b *bench) appendBeside(ctx context.Context, size int) (ours, plain time.Duration, err error) {
	dir, err := os.MkdirTemp(b.dir, "append")
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a leftover of a measurement
	home := scope.HomeAt(filepath.Join(dir, "home")).WithUser(dir, dir)
	s, err := session.NewStore(storage.Disk(storage.Policy{}), session.Options{Home: home}).Create(ctx, dir, session.CreateOptions{})
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	f, err := os.OpenFile(filepath.Join(dir, "plain.jsonl"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	message, err := jsonl.ParseString(`{"role":"assistant","content":[{"type":"text","text":"` + strings.Repeat("words ", size/6) + `"}],"stopReason":"stop","timestamp":1770000000000}`)
	if err != nil {
		return 0, 0, err
	}
	var buf []byte
	both := [2][]time.Duration{}
	kinds := [2]func() error{
		func() error {
			_, err := s.AppendMessage(ctx, message)
			return err
		},
		func() error {
			o := jsonl.MessageEntry(jsonl.Base{ID: "00000001", Parent: "00000000", Timestamp: "2026-02-10T08:01:00.000Z"}, message)
			o.Set("event_id", jsonl.StringValue(jsonl.EventID(len(both[1])).String()))
			buf = append(jsonl.AppendJSON(buf[:0], jsonl.ObjectValue(o)), '\n')
			_, err := f.Write(buf)
			return err
		},
	}
	for len(both[0]) < appends {
		for i, do := range kinds {
			for range appendsTurn {
				took, err := timed(do)
				if err != nil {
					return 0, 0, err
				}
				both[i] = append(both[i], took)
			}
		}
	}
	slices.Sort(both[0])
	slices.Sort(both[1])
	return both[0][appends/2], both[1][appends/2], nil
}

func us(d time.Duration) string { return fmt.Sprintf("%.1f µs", float64(d.Nanoseconds())/1000) }
