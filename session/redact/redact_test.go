package redact

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/jsonl"
)

// fake is a token of n characters that nobody has issued.
func fake(n int) string {
	return strings.Repeat("EXAMPLE0fake1", n/13+1)[:n]
}

func TestText(t *testing.T) {
	hex := strings.Repeat("0123456789abcdef", 4)
	pem := "-----BEGIN RSA PRIVATE KEY-----\nMIIEow" + fake(40) + "\n" + fake(20) + "==\n-----END RSA PRIVATE KEY-----"
	tests := []struct{ name, in, want string }{
		{"sk key of the least length", "key sk-12345678901234567 end", "key [redacted] end"},
		{"sk key one shorter", "key sk-1234567890123456 end", "key sk-1234567890123456 end"},
		{"sk key", "my key is sk-test-EXAMPLE0EXAMPLE0EXAMPLE0EXAMPLE0 ok", "my key is [redacted] ok"},
		{"sk key of a project", "sk-proj-" + fake(60) + ".", "[redacted]."},
		{"a word that ends in sk", "a risk-based-approach-to-everything-there-is", "a risk-based-approach-to-everything-there-is"},
		{"a removed line of a diff", "-sk-ant-" + fake(30) + "\n", "-[redacted]\n"},
		{"github", "ghp_" + fake(36) + ", gho_" + fake(36), "[redacted], [redacted]"},
		{"github, fine-grained", "github_pat_" + fake(82), "[redacted]"},
		{"gitlab", "glpat-" + fake(20), "[redacted]"},
		{"aws id", "id AKIAIOSFODNN7EXAMPLE.", "id [redacted]."},
		{"no aws id", "AKIAIOSFODNN7EXAMPLES and AKIA", "AKIAIOSFODNN7EXAMPLES and AKIA"},
		{"aws secret", "aws_secret_access_key = " + fake(40), "aws_secret_access_key = [redacted]"},
		{"slack", "xoxb-123456789012-" + fake(24) + " xoxp-1-" + fake(12), "[redacted] [redacted]"},
		{"slack webhook", "https://hooks.slack.com/services/T00000000/B00000000/" + fake(24), "https://[redacted]"},
		{"discord webhook", "https://discord.com/api/webhooks/123456789012345678/" + fake(68), "https://[redacted]"},
		{"in colour", "\x1b[01;31m\x1b[Ksk-" + fake(30) + "\x1b[m and \x1b[32mghp_" + fake(36), "\x1b[01;31m\x1b[K[redacted]\x1b[m and \x1b[32m[redacted]"},
		{"in colour in JSON", `"\u001b[32mghp_` + fake(36) + `\u001b[0m"`, `"\u001b[32m[redacted]\u001b[0m"`},
		{"in an address", "?q=x%3Dghp_" + fake(36) + "&y=1", "?q=x%3D[redacted]&y=1"},
		{"google", "AIza" + fake(35), "[redacted]"},
		{"npm", "//registry.npmjs.org/:_authToken=npm_" + fake(36), "//registry.npmjs.org/:_authToken=[redacted]"},
		{"stripe", "sk_live_" + fake(24), "[redacted]"},
		{"sendgrid", "SG." + fake(22) + "." + fake(43), "[redacted]"},
		{"twilio", "SK" + hex[:32], "[redacted]"},
		{"telegram", "bot 123456789:AA" + fake(33), "bot [redacted]"},
		{"jwt", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0." + fake(30), "[redacted]"},
		{"private key", "before\n" + pem + "\nafter", "before\n[redacted]\nafter"},
		{"private key in a diff", "+" + strings.ReplaceAll(pem, "\n", "\n+") + "\n after", "+[redacted]\n after"},
		{"private key without an end", "x -----BEGIN PRIVATE KEY-----\nMIIE" + fake(40) + "\n", "x [redacted]"},
		{"public key", "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----", "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----"},
		{"service account", `{"private_key_id": "` + hex[:40] + `", "private_key": "` + strings.ReplaceAll(pem, "\n", `\n`) + `\n"}`,
			`{"private_key_id": "[redacted]", "private_key": "[redacted]\n"}`},
		{"bearer", "Authorization: Bearer abcdef0123456789abcdef", "Authorization: Bearer [redacted]"},
		{"basic", `-H "Authorization: Basic dXNlcjpwYXNzd29yZDE="`, `-H "Authorization: Basic [redacted]"`},
		{"bearer in a sentence", "Use bearer authentication-mechanisms here", "Use bearer authentication-mechanisms here"},
		{"cookie", "Set-Cookie: session=abcdef0123; Path=/", "Set-Cookie: session=[redacted]"},
		{"password", "password=hunter2", "password=[redacted]"},
		{"password in JSON", `{"password":"hunter2","user":"a"}`, `{"password":"[redacted]","user":"a"}`},
		{"password in JSON in JSON", `{"x":"{\"password\":\"hunter2\"}"}`, `{"x":"{\"password\":\"[redacted]\"}"}`},
		{"password three deep", `"{\"a\":\"{\\\"password\\\":\\\"hunter2\\\"}\"}"`, `"{\"a\":\"{\\\"password\\\":\\\"[redacted]\\\"}\"}"`},
		{"password with an escaped quote", `{"password":"hun\"ter2","user":"a"}`, `{"password":"[redacted]","user":"a"}`},
		{"password on the next line", "\"password\":\n    \"hunter2\"", "\"password\":\n    \"[redacted]\""},
		{"password in yaml", "db:\n  password: hunter2!\n  port: 1", "db:\n  password: [redacted]\n  port: 1"},
		{"password of an option", "mysql --password hunter2 -u me", "mysql --password [redacted] -u me"},
		{"password of an environment", "export DB_PASSWORD='correct horse1'", "export DB_PASSWORD='correct horse1'"},
		{"token of an environment", "GITHUB_TOKEN=" + fake(20), "GITHUB_TOKEN=[redacted]"},
		{"token of a query", "GET /x?access_token=" + fake(20) + "&page=2", "GET /x?access_token=[redacted]&page=2"},
		{"api key", `apiKey: "` + fake(20) + `"`, `apiKey: "[redacted]"`},
		{"address", "postgres://me:s3cr3t@db.example/x", "postgres://me:[redacted]@db.example/x"},
		{"address without a password", "https://me@db.example:80/x ssh://git@host", "https://me@db.example:80/x ssh://git@host"},
		{"type in code", "password: string; token: Token; secret = getSecret()", "password: string; token: Token; secret = getSecret()"},
		{"from the environment", "password = process.env.DB1_PASSWORD", "password = process.env.DB1_PASSWORD"},
		{"an expression", "secret = tls13.NewEarlySecret(x); PrivateKey: testRSA2048PrivateKey}; password: f[i+1]", "secret = tls13.NewEarlySecret(x); PrivateKey: testRSA2048PrivateKey}; password: f[i+1]"},
		{"placeholder", "password=${PASSWORD1} token=<your-token-1234> secret='****'", "password=${PASSWORD1} token=<your-token-1234> secret='****'"},
		{"counts of tokens", `"totalTokens": 123456789, max_tokens=8192, tokens: 123456789012345`, `"totalTokens": 123456789, max_tokens=8192, tokens: 123456789012345`},
		{"words about secrets", "The secret of a good password is its length; tokens expire.", "The secret of a good password is its length; tokens expire."},
		{"escaped hyphen", `sk\u002dtest-EXAMPLE0EXAMPLE0EXAMPLE0`, "[redacted]"},
		{"escaped slashes", `https:\/\/hooks.slack.com\/services\/T00000000\/B00000000\/` + fake(24), `https:\/\/[redacted]`},
		{"wrapped by a terminal", "key sk-test-EXAMPLE0EX\n  AMPLE0EXAMPLE0 ok", "key [redacted] ok"},
		{"wrapped inside of its word", "key gh\np_" + fake(36) + " ok", "key [redacted] ok"},
		{"wrapped by a wide terminal", strings.Repeat("x ", 30) + "ghp_" + fake(33) + "\nab1 ok", strings.Repeat("x ", 30) + "[redacted]\nab1 ok"},
		{"next line is a sentence", "sk-" + fake(30) + "\nNext we go", "[redacted]\nNext we go"},
		{"next line is a list", "sk-" + fake(30) + "\n2023abcd", "[redacted]\n2023abcd"},
		{"again, where nothing tells it", "password=hunter22\nI typed hunter22 there", "password=[redacted]\nI typed [redacted] there"},
		{"wide characters around", "鍵：sk-" + fake(30) + "。🔑", "鍵：[redacted]。🔑"},
		{"nothing", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, n := Count(tt.in)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Count (-want +got):\n%s", diff)
			}
			if (n > 0) != (tt.in != tt.want) {
				t.Errorf("%d secrets", n)
			}
			if again := Text(got); again != got {
				t.Errorf("Text of Text = %q", again)
			}
		})
	}
}

func TestRecordsAreRedactedByNames(t *testing.T) {
	token := "sk-" + fake(30)
	tests := []struct{ in, want string }{
		{`{"password":"hunter2"}`, `{"password":"[redacted]"}`},
		{`{"dbPassword":"hunter2","user":"me"}`, `{"dbPassword":"[redacted]","user":"me"}`},
		{`{"env":{"GITHUB_TOKEN":"abcd1234efgh"}}`, `{"env":{"GITHUB_TOKEN":"[redacted]"}}`},
		{`{"headers":{"Authorization":"Basic dXNlcjpwYXNzd29yZDE=","Cookie":"session=abcdef0123"}}`, `{"headers":{"Authorization":"Basic [redacted]","Cookie":"session=[redacted]"}}`},
		{`{"passwords":["hunter2","${PASSWORD1}"]}`, `{"passwords":["[redacted]","${PASSWORD1}"]}`},
		{`{"password":"hun\"ter2\\"}`, `{"password":"[redacted]"}`},
		{`{"tokens":"abcd1234efgh","text":"hunter2"}`, `{"tokens":"abcd1234efgh","text":"hunter2"}`},
		{`{"password":""}`, `{"password":""}`},
		{`{"` + token + `":1,"a":2}`, `{"[redacted]":1,"a":2}`},
		{`{"` + token + `":1,"` + token + `x":{"` + token + `":"v"}}`, `{"[redacted]":1,"[redacted]-2":{"[redacted]":"v"}}`},
		{`{"id":"` + token + `"}`, `{"id":"` + token + `"}`},
	}
	for _, tt := range tests {
		in := tt.in
		v, err := jsonl.ParseString(in)
		if err != nil {
			t.Fatalf("%s: %v", in, err)
		}
		got := jsonl.Redactor(Text).Value(v)
		if diff := cmp.Diff(tt.want, got.JSON()); diff != "" {
			t.Errorf("Value(%s) (-want +got):\n%s", in, diff)
		}
		if again := jsonl.Redactor(Text).Value(got); again.JSON() != got.JSON() {
			t.Errorf("Value of Value of %s = %s", in, again.JSON())
		}
		if v.JSON() != tt.want && !Suspect([]byte(in)) {
			t.Errorf("Suspect(%s) = false", in)
		}
	}
}

func TestFindNamesRules(t *testing.T) {
	s := "a ghp_" + fake(36) + " b password=hunter2"
	want := []Finding{{"github-token", 2, 42}, {"assignment", 54, 61}}
	if diff := cmp.Diff(want, Find(s)); diff != "" {
		t.Errorf("Find (-want +got):\n%s", diff)
	}
}

func TestManySecretsAreReplacedEverywhere(t *testing.T) {
	var in, want strings.Builder
	for i := range 40 {
		secret := "pass" + strings.Repeat(string(rune('a'+i%26)), 1+i/26) + "word77"
		in.WriteString("password=" + secret + " then " + secret + "\n")
		want.WriteString("password=[redacted] then [redacted]\n")
	}
	if diff := cmp.Diff(want.String(), Text(in.String())); diff != "" {
		t.Errorf("Text (-want +got):\n%s", diff)
	}
}

// Texts made to be slow take no longer than their size allows.
func TestHostileTextsAreLinear(t *testing.T) {
	for _, part := range []string{"sk-", "-sk-", "eyJ", "-eyJ.", "password=", "password=\"", "secret:", "://", "://a:", "-----BEGIN PRIVATE KEY-----",
		"-----BEGIN ", "\\", `\"`, "\\u002d", "\n", "xoxb-\n", "Bearer ", "cookie:a=", "--token ", "hooks.slack.com/", "1:AA", "token=a1",
		"cookie:", "token=", "token", "token'", `\n`, `\n `, ` \r\n`, `s\nk `, `\\n`, "://a:b", "authorization\\", "password "} {
		in := strings.Repeat(part, 1<<20/len(part))
		began := time.Now()
		Text(in)
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("%q: 1 MB took %v", part, took)
		}
		began = time.Now()
		Suspect([]byte(in))
		if took := time.Since(began); took > time.Second {
			t.Errorf("%q: to suspect something in 1 MB took %v", part, took)
		}
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"sk-" + fake(30), "password=\"a\\\"b1cdef\" password=b1cdef", "a\\nb", "-----BEGIN PRIVATE KEY-----\n", "gh\np_" + fake(36), "://a:b1@c:d@e", `\u0070assword=hunter2`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		found := Find(s)
		out := Text(s)
		if Text(out) != out {
			t.Errorf("not idempotent: %q to %q to %q", s, out, Text(out))
		}
		for _, x := range found {
			if secret := s[x.Start:x.End]; len(secret) >= minRepeat && strings.Contains(out, secret) {
				t.Errorf("%q still has %q: %q", s, secret, out)
			}
		}
		if len(found) == 0 && out != s {
			t.Errorf("nothing found, but %q became %q", s, out)
		}
	})
}

func BenchmarkText(b *testing.B) {
	line := `{"type":"message","id":"1a2b3c4d","parentId":"0a1b2c3d","timestamp":"2026-03-01T09:00:01.000Z","message":{"role":"assistant","content":[{"type":"text","text":"The parser reads a token at a time.\nIt keeps \"secrets\" of the format to itself; the key is in the table, see https://example.org/a?b=c."}],"usage":{"totalTokens":123}}}` + "\n"
	code := "func (p *parser) next() (tok token, err error) {\n\tif p.pos >= len(p.src) {\n\t\treturn token{}, io.EOF\n\t}\n\tp.skipSpace() // the password field comes later\n\treturn p.scan()\n}\n"
	tests := []struct{ name, text string }{
		{"transcript", strings.Repeat(line, 3000)},
		{"code", strings.Repeat(code, 5000)},
		{"secrets", strings.Repeat(code+"key sk-"+fake(40)+"\n", 3000)},
	}
	for _, tt := range tests {
		b.Run(tt.name, func(b *testing.B) {
			b.SetBytes(int64(len(tt.text)))
			for b.Loop() {
				Text(tt.text)
			}
		})
	}
}
