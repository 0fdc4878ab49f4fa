package psm

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/jsonl"
)

func TestAnswersOfACommand(t *testing.T) {
	tests := []struct {
		name, out string
		want      []string
	}{
		{"in any order", "{\"n\":2,\"summary\":\"b\"}\n\n{\"n\":1,\"summary\":\"a\"}\n", []string{"a", "b"}},
		{"one is missing", `{"n":1,"summary":"a"}`, nil},
		{"one is empty", "{\"n\":1,\"summary\":\" \"}\n{\"n\":2,\"summary\":\"b\"}", nil},
		{"one twice", "{\"n\":1,\"summary\":\"a\"}\n{\"n\":1,\"summary\":\"b\"}", nil},
		{"a number nobody asked for", "{\"n\":3,\"summary\":\"a\"}", nil},
		{"half a number", "{\"n\":1.5,\"summary\":\"a\"}", nil},
		{"no JSON", "hello", nil},
		{"nothing", "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := answers([]byte(tt.out), 2)
			if tt.want == nil {
				if !errors.Is(err, ErrSummary) {
					t.Errorf("answers(%q) = %q, %v; want ErrSummary", tt.out, got, err)
				}
				return
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
				t.Errorf("answers(%q) (-want +got):\n%s%v", tt.out, diff, err)
			}
		})
	}
}

func TestCommandIsBounded(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no sh")
	}
	units := unitsOf(jsonl.ParseText(turn(0, "", "")), nil, nil)
	tests := []struct {
		name, shell string
		says        string
	}{
		{"time", "sleep 60 & sleep 60", "took more than"},
		{"output", "cat /dev/zero", "printed more than"},
		{"its status", "echo what went wrong >&2; exit 3", "exit status 3: what went wrong"},
		{"its errors", "head -c 100000 /dev/zero | tr '\\0' e >&2; exit 1", "eeee"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			limit := 20 * time.Second
			if tt.name == "time" {
				limit = 100 * time.Millisecond
			}
			start := time.Now()
			_, err := Command{Shell: tt.shell, Limit: limit}.Summarize(context.Background(), units)
			if err == nil || !strings.Contains(err.Error(), tt.says) || len(err.Error()) > 3000 {
				t.Errorf("Summarize = %.200v, want an error that says %q", err, tt.says)
			}
			if took := time.Since(start); took > 15*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}
