package historycase

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
)

// text gives the string that an argument stands for.
func text(v any) string {
	m, ok := v.(map[string]any)
	if !ok {
		s, _ := v.(string)
		return s
	}
	if parts, ok := m["$repeat"].([]any); ok {
		n, _ := parts[1].(float64)
		return strings.Repeat(text(parts[0]), int(n))
	}
	if parts, ok := m["$concat"].([]any); ok {
		var b strings.Builder
		for _, p := range parts {
			b.WriteString(text(p))
		}
		return b.String()
	}
	if units, ok := m["$fromCodeUnits"].([]any); ok {
		var u []uint16
		for _, n := range units {
			f, _ := n.(float64)
			u = append(u, uint16(f))
		}
		return string(utf16.Decode(u))
	}
	if b, ok := m["$bytesB64"].(map[string]any); ok {
		return bytesBase64(b)
	}
	return ""
}

// bytesBase64 is the base64 text of n bytes, the i-th of them start + i*step.
func bytesBase64(m map[string]any) string {
	n, _ := m["n"].(float64)
	start, _ := m["start"].(float64)
	step, ok := m["step"].(float64)
	if !ok {
		step = 1
	}
	data := make([]byte, int(n))
	for i := range data {
		data[i] = byte(int(start) + i*int(step))
	}
	return base64.StdEncoding.EncodeToString(data)
}

// limit is a recorded limit. A null, which is how JSON writes NaN, is known
// from a limit that was not given.
type limit struct {
	given bool
	value any
}

func (l *limit) UnmarshalJSON(data []byte) error {
	l.given = true
	return json.Unmarshal(data, &l.value)
}

// number gives the number that the limit stands for; 100, the original's own
// choice, if there is none, and NaN for what is none.
func (l limit) number() float64 {
	switch v := l.value.(type) {
	case float64:
		return v
	case string:
		return float(v)
	case map[string]any:
		if v["$undefined"] == nil {
			return float(fmt.Sprint(v["$number"]))
		}
	case nil:
		if l.given {
			return math.NaN()
		}
	}
	return 100
}

func float(s string) float64 {
	n, err := strconv.ParseFloat(strings.Replace(s, "Infinity", "Inf", 1), 64)
	if err != nil && !math.IsInf(n, 0) {
		return math.NaN()
	}
	return n
}

// value gives what an argument of a statement stands for.
func value(v any) any {
	switch v := v.(type) {
	case float64:
		if v == float64(int64(v)) {
			return int64(v)
		}
	case map[string]any:
		if v["$undefined"] != nil {
			return nil
		}
		return text(v)
	}
	return v
}

// cwd gives the directory of an argument; nil if there is none.
func cwd(v any) *string {
	switch v := v.(type) {
	case string:
		return &v
	case map[string]any:
		if v["$undefined"] != nil {
			return nil
		}
		s := text(v)
		return &s
	}
	return nil
}

// isBig reports whether s is the long string that a record describes.
func isBig(s string, big map[string]any) bool {
	sum := sha256.Sum256([]byte(s))
	head, _ := big["head"].(string)
	tail, _ := big["tail"].(string)
	return fmt.Sprint(big["chars"]) == fmt.Sprint(float64(len(utf16.Encode([]rune(s))))) &&
		fmt.Sprint(big["utf8Bytes"]) == fmt.Sprint(float64(len(s))) &&
		big["sha256"] == hex.EncodeToString(sum[:]) &&
		strings.HasPrefix(s, head) && strings.HasSuffix(s, tail)
}
