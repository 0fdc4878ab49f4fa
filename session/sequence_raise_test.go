package session

import (
	"errors"
	"os"
	"testing"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage/storagetest"
)

func TestEventIDsAreRaisedAndNeverLowered(t *testing.T) {
	tests := []struct {
		name, text string
		highest    jsonl.EventID
		want       string // what the file says then
		err        error
	}{
		{"above", "00000000000000a0\n", 0x200, "0000000000000201\n", nil},
		{"the last one given out", "00000000000000a0\n", 0x9f, "00000000000000a0\n", nil},
		{"the next one", "00000000000000a0\n", 0xa0, "00000000000000a1\n", nil},
		{"below", "00000000000000a0\n", 1, "00000000000000a0\n", nil},
		{"no sequence yet", "", 0x200, "0000000000000201\n", nil},
		{"garbage", "not a number", 0x200, "not a number", ErrSequence},
		{"the highest there may be", "00000000000000a0\n", MaxForeignEventID, "4000000000000001\n", nil},
		{"one more", "00000000000000a0\n", MaxForeignEventID + 1, "00000000000000a0\n", ErrSequence},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, Options{})
			noErr(t, b.prepare())
			if tt.text != "" {
				noErr(t, os.WriteFile(b.opt.Home.EventSequence(), []byte(tt.text), 0o600))
			}
			if err := b.RaiseEventIDs(t.Context(), tt.highest); !errors.Is(err, tt.err) {
				t.Errorf("RaiseEventIDs(%v) = %v, want %v", tt.highest, err, tt.err)
			}
			if got := b.read(b.opt.Home.EventSequence()); got != tt.want {
				t.Errorf("the sequence is %q, want %q", got, tt.want)
			}
		})
	}
}

func TestABlockThatWasBegunIsGivenUpWhenIDsAreRaised(t *testing.T) {
	b := newBench(t, Options{})
	first, err := b.seq.reserve(t.Context(), 1, "")
	noErr(t, err)
	noErr(t, b.RaiseEventIDs(t.Context(), first+10))
	next, err := b.seq.reserve(t.Context(), 1, "")
	noErr(t, err)
	if next <= first+10 {
		t.Errorf("after ids up to %v came in, %v is given out", first+10, next)
	}
}

func TestRaisingEventIDsWithFaults(t *testing.T) {
	storagetest.EachFault(t, storagetest.FaultPlan{}, func(t *testing.T, plan storagetest.FaultPlan) *storagetest.Fault {
		b := newBench(t, Options{})
		_, err := b.seq.reserve(t.Context(), 1, "")
		noErr(t, err)
		f := storagetest.NewFault(b.fsys, plan)
		err = NewStore(f, b.opt).RaiseEventIDs(t.Context(), 0x500)
		if err != nil && f.Fired() == 0 {
			t.Errorf("RaiseEventIDs = %v without a fault", err)
		}
		next, _, rerr := func() (uint64, bool, error) {
			file, err := b.fsys.Open(b.opt.Home.EventSequence())
			noErr(t, err)
			defer file.Close()
			return readSequence(file)
		}()
		if rerr != nil || err == nil && next != 0x501 {
			t.Errorf("after %v the sequence is %#x, %v", err, next, rerr)
		}
		return f
	})
}
