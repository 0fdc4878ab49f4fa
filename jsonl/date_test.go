package jsonl

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseDateReadsWhatDateReads(t *testing.T) {
	tests := []struct {
		text string
		want float64 // NaN: Date would be invalid
	}{
		{"1970-01-01T00:00:00.000Z", 0},
		{"2026-02-10T08:01:00.000Z", 1770710460000},
		{"2026-02-10T08:01:00Z", 1770710460000},
		{"2026-02-10T08:01Z", 1770710460000},
		{"2026-02-10T09:31:00.000+01:30", 1770710460000},
		{"2026-02-10T05:01:00-03:00", 1770710460000},
		{"2026-02-10T08:01:00", 1770710460000},
		{"2026-02-10", 1770681600000},
		{"2026-02", 1769904000000},
		{"2026", 1767225600000},
		{"2026-02-10T08:01:00.1Z", 1770710460100},
		{"2026-02-10T08:01:00.123987654Z", 1770710460123},
		{"2024-02-29", 1709164800000},
		{"2026-02-09T24:00:00Z", 1770681600000},
		{"+002026-02-10T08:01:00.000Z", 1770710460000},
		{"+275760-09-13T00:00:00.000Z", 8.64e15},
		{"-271821-04-20T00:00:00.000Z", -8.64e15},
		{"0000-01-01", -62167219200000},
		{"2026-02-10 08:01:00", 1770710460000},
		{"Tue, 10 Feb 2026 08:01:00 GMT", 1770710460000},
		{"+275760-09-13T00:00:00.001Z", math.NaN()},
		{"-000000-01-01", math.NaN()},
		{"2026-02-29", math.NaN()},
		{"2026-13-01", math.NaN()},
		{"2026-02-10T25:00:00Z", math.NaN()},
		{"2026-02-10T24:00:01Z", math.NaN()},
		{"2026-02-10T08:60:00Z", math.NaN()},
		{"2026-02-10T08", math.NaN()},
		{"2026-02-10T08:01:00.Z", math.NaN()},
		{"2026-02-10T08:01:00Zulu", math.NaN()},
		{"not a date", math.NaN()},
		{"bad", math.NaN()},
		{"", math.NaN()},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			got, ok := ParseDate(tt.text)
			if !ok {
				got = math.NaN()
			}
			if got != tt.want && !(math.IsNaN(got) && math.IsNaN(tt.want)) {
				t.Errorf("ParseDate(%q) = %v, want %v", tt.text, got, tt.want)
			}
		})
	}
}

func TestDateOfConvertsEveryKind(t *testing.T) {
	tests := []struct {
		name string
		v    Value
		want float64
	}{
		{"string", StringValue("1970-01-01T00:00:01Z"), 1000},
		{"milliseconds", NumberValue(1770000000001.7), 1770000000001},
		{"number out of range", NumberValue(1e300), math.NaN()},
		{"null", NullValue(), 0},
		{"true", BoolValue(true), 1},
		{"absent", Value{}, math.NaN()},
		{"object", ObjectValue(NewObj()), math.NaN()},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := DateOf(tt.v)
			if got != tt.want && !(math.IsNaN(got) && math.IsNaN(tt.want)) {
				t.Errorf("DateOf(%s) = %v, want %v", tt.v.JSON(), got, tt.want)
			}
		})
	}
}

func TestParseDateInvertsISOFormat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ms := rapid.Int64Range(-62167219200000, 253402300799999).Draw(t, "ms")
		text := time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z")
		if got, ok := ParseDate(text); !ok || got != float64(ms) {
			t.Fatalf("ParseDate(%q) = %v, %v, want %d", text, got, ok, ms)
		}
	})
}
