package index

import (
	"fmt"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/session/checkpoint"
)

// TestUsageByDayKnowsDaysOf23And25Hours sums up an answer every ten minutes
// around the nights in which clocks were changed, also at midnight.
func TestUsageByDayKnowsDaysOf23And25Hours(t *testing.T) {
	for _, tt := range []struct {
		zone, day string
		hours     int
	}{
		{"Europe/Berlin", "2026-03-29", 23},
		{"Europe/Berlin", "2026-10-25", 25},
		{"Europe/Berlin", "2026-10-26", 24},
		{"America/Sao_Paulo", "2018-11-04", 23},
		{"America/Sao_Paulo", "2019-02-16", 25},
		{"America/Sao_Paulo", "2026-02-16", 24},
		{"Asia/Kolkata", "2026-03-29", 24},
	} {
		t.Run(tt.zone+" "+tt.day, func(t *testing.T) {
			zone, err := time.LoadLocation(tt.zone)
			if err != nil {
				t.Skip(err)
			}
			noon, err := time.ParseInLocation("2006-01-02 15:04", tt.day+" 12:00", zone)
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			b.WriteString(`{"type":"session","version":5,"id":"days0001","timestamp":"2018-01-01T00:00:00.000Z","cwd":"/w"}` + "\n")
			for i := -6 * 40; i < 6*40; i++ {
				at := noon.Add(time.Duration(i) * 10 * time.Minute).UTC().Format("2006-01-02T15:04:05.000Z")
				fmt.Fprintf(&b, `{"type":"message","id":"a%d","parentId":null,"timestamp":"%s","message":{"role":"assistant","content":[],"provider":"p","model":"m","usage":{"input":1,"output":1,"cost":{"total":0.1}}}}`+"\n", i, at)
			}
			home := t.TempDir()
			path := put(t, home, "s/days.jsonl", b.String())
			x := openAt(t, home, Options{})
			refresh(t, x)
			rows, err := x.Usage(t.Context(), UsageFilter{By: UsageDay, Zone: zone})
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]checkpoint.Sum{}
			for _, r := range rows {
				got[r.Key] = r.Sum
			}
			if n := got[tt.day].Requests; n != int64(6*tt.hours) {
				t.Errorf("%d answers on %s, want %d", n, tt.day, 6*tt.hours)
			}
			if diff := gocmp.Diff(recount(t, []string{path}, zone), got); diff != "" {
				t.Errorf("usage by day (-recount +index):\n%s", diff)
			}
		})
	}
}
