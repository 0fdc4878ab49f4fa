package index

import (
	"testing"
	"time"
)

func TestWatchRestIsBounded(t *testing.T) {
	tests := []struct {
		name         string
		settle, took time.Duration
		want         time.Duration
	}{
		{"before any refresh", settleFor, 0, settleFor},
		{"a short refresh", settleFor, 50 * time.Millisecond, 500 * time.Millisecond},
		{"a refresh as long as a build", settleFor, 40 * time.Second, longestRest},
		{"a longer time to settle is kept", time.Minute, 40 * time.Second, time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := &watcher{opt: WatchOptions{Settle: tt.settle}, took: tt.took}
			if got := w.pause(); got != tt.want {
				t.Errorf("pause() after %v = %v, want %v", tt.took, got, tt.want)
			}
		})
	}
}
