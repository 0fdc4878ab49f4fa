package historycase

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
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
	return ""
}

// number gives the number that an argument stands for; 100, the original's own
// choice, if there is none.
func number(v any) float64 {
	switch v := v.(type) {
	case float64:
		return v
	case map[string]any:
		if n, err := strconv.ParseFloat(strings.Replace(fmt.Sprint(v["$number"]), "Infinity", "Inf", 1), 64); err == nil {
			return n
		}
	}
	return 100
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
