package jsonl

import "testing"

func TestValueRoundTrip(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"array index keys come first, ascending", `{"b":1,"9":9,"1":1,"01":0,"a":2}`, `{"1":1,"9":9,"b":1,"01":0,"a":2}`},
		{"duplicate key: first place, last value", `{"a":1,"b":2,"a":3}`, `{"a":3,"b":2}`},
		{"numbers", `[1e400,-0,1E+2,1.0,1e21,1e-7,0.000001,12345678901234567890,123e-9]`, `[null,0,100,1,1e+21,1e-7,0.000001,12345678901234567000,1.23e-7]`},
		{"lone surrogates", `["\ud800","\uDC00x","\ud83d\ude00","\ud83d\u0041"]`, `["\ud800","\udc00x","😀","\ud83dA"]`},
		{"escapes", `["\b\f\n\r\t\u0001\/\u007f\u2028"]`, "[\"\\b\\f\\n\\r\\t\\u0001/\x7f\u2028\"]"},
		{"broken UTF-8", "[\"\xe2\x82A\xff\xed\xa0\x80\"]", "[\"\ufffdA\ufffd\ufffd\ufffd\ufffd\"]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, err := ParseString(tt.in)
			if err != nil {
				t.Fatalf("ParseString(%q): %v", tt.in, err)
			}
			if got := v.JSON(); got != tt.want {
				t.Errorf("ParseString(%q).JSON() = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}
