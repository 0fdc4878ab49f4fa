package main

import (
	"strings"
	"testing"
)

func TestWrongValuesSayWhatIsWanted(t *testing.T) {
	tests := []struct {
		args []string
		want string
	}{
		{[]string{"append", "x", "--wait", "5"}, "a number with its unit"},
		{[]string{"list", "--limit", "x"}, "a whole number"},
		{[]string{"list", "--reverse=perhaps"}, "true or false"},
	}
	for _, tt := range tests {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			_, errs, status := answer(t, tt.args...)
			if status != exitUsage || !strings.Contains(errs, tt.want) {
				t.Errorf("%q: status %d, stderr %q; want 2 and %q", tt.args, status, errs, tt.want)
			}
		})
	}
}
