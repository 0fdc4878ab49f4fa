package redact

// rule is one form of secret.
type rule struct {
	name string
	word string // the literal by which it is found
	fold bool   // in any case; word is in lower case

	// A token: the word at the beginning of a run of class. The whole run is
	// the secret.
	class *class
	min   int                 // bytes after the word
	ok    func(s string) bool // what else must be true of it; nil: nothing

	// Or whatever find says of the text at the word: where the secret stands,
	// if there is one (end > start), and up to where no other word of the rule
	// need be tried.
	find func(s string, at int) (start, end, next int)
}

// class is a set of bytes.
type class [256]bool

func classOf(chars string) *class {
	var c class
	for i := 0; i < len(chars); i++ {
		c[chars[i]] = true
	}
	return &c
}

const (
	digits = "0123456789"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	lower  = "abcdefghijklmnopqrstuvwxyz"
)

// rules is the table. Forms are those that the issuers document; lengths are a
// little below theirs, so that a token which lost some characters is found too.
func rules() []rule {
	table := append(surrounded(), shaped()...)
	for _, p := range prefixed() {
		for _, w := range p.words {
			table = append(table, rule{name: p.name, word: w, class: p.class, min: p.min})
		}
	}
	return table
}

// surrounded are secrets of no form: what stands around them tells them.
func surrounded() []rule {
	table := []rule{
		{name: "private-key", word: "-----begin", fold: true, find: findPrivateKey},
		{name: "address-password", word: "://", find: findAddress},
		{name: "authorization", word: "authorization", fold: true, find: findAuthorization},
		{name: "bearer", word: "bearer", fold: true, find: findBearer},
		{name: "cookie", word: "cookie", fold: true, find: findCookie},
		{name: "telegram-token", word: ":AA", find: findTelegram},
	}
	for _, w := range assignWords {
		table = append(table, rule{name: "assignment", word: w, fold: true, find: findAssignment})
	}
	return table
}

// shaped are tokens of which more than the beginning is known.
func shaped() []rule {
	dots := classOf(digits + upper + lower + "_-.")
	hex := classOf(digits + "abcdefABCDEF")
	capitals := classOf(digits + upper)
	return []rule{
		{name: "jwt", word: "eyJ", class: dots, min: 20, ok: isJWT},
		{name: "aws-key", word: "AKIA", class: capitals, min: 16, ok: isLength(20)},
		{name: "aws-key", word: "ASIA", class: capitals, min: 16, ok: isLength(20)},
		{name: "aws-key", word: "ABIA", class: capitals, min: 16, ok: isLength(20)},
		{name: "twilio-key", word: "SK", class: hex, min: 32, ok: isLength(34)},
		{name: "mailgun-key", word: "key-", class: hex, min: 32, ok: isLength(36)},
		{name: "sendgrid-key", word: "SG.", class: dots, min: 30, ok: hasDot},
	}
}

// prefix is a family of tokens: a word and a run of at least min bytes.
type prefix struct {
	name  string
	class *class
	min   int
	words []string
}

func prefixed() []prefix {
	alnum := classOf(digits + upper + lower)
	under := classOf(digits + upper + lower + "_")
	url := classOf(digits + upper + lower + "_-")
	dots := classOf(digits + upper + lower + "_-.")
	base := classOf(digits + upper + lower + "_-+/=.")
	hex := classOf(digits + "abcdefABCDEF")
	return []prefix{
		// sk- keys, of whichever provider, have at least 20 characters.
		{"sk-key", url, 17, []string{"sk-"}},
		{"stripe-key", under, 10, []string{"sk_live_", "sk_test_", "rk_live_", "rk_test_"}},
		{"stripe-key", base, 24, []string{"whsec_"}},
		{"github-token", alnum, 30, []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}},
		{"github-token", under, 22, []string{"github_pat_"}},
		{"gitlab-token", dots, 20, []string{"glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glft-", "glsoat-", "gloas-"}},
		{"slack-token", url, 10, []string{"xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe-", "xoxo-", "xapp-"}},
		{"slack-webhook", classOf(digits + upper + lower + "_-/+"), 20, []string{"hooks.slack.com/"}},
		{"discord-webhook", classOf(digits + upper + lower + "_-/"), 40, []string{"discord.com/api/webhooks/", "discordapp.com/api/webhooks/"}},
		{"google-key", url, 30, []string{"AIza"}},
		{"google-secret", url, 20, []string{"GOCSPX-", "ya29."}},
		{"npm-token", alnum, 30, []string{"npm_"}},
		{"pypi-token", url, 50, []string{"pypi-"}},
		{"azure-key", base, 30, []string{"AccountKey=", "SharedAccessKey="}},
		{"huggingface-token", alnum, 30, []string{"hf_"}},
		{"provider-key", under, 24, []string{"gsk_", "r8_", "xai-", "pplx-", "sbp_", "lin_api_", "ntn_", "figd_", "rnd_", "nvapi-"}},
		{"digitalocean-token", hex, 60, []string{"dop_v1_", "doo_v1_", "dor_v1_"}},
		{"databricks-token", hex, 32, []string{"dapi"}},
		{"docker-token", url, 20, []string{"dckr_pat_"}},
		{"shopify-token", hex, 30, []string{"shpat_", "shpss_", "shpca_", "shppa_"}},
		{"square-token", url, 20, []string{"sq0atp-", "sq0csp-"}},
		{"atlassian-token", base, 40, []string{"ATATT3xFf", "ATCTT3xFf"}},
		{"age-key", classOf(digits + upper), 50, []string{"AGE-SECRET-KEY-1"}},
		{"service-token", url, 16, []string{"tskey-", "PMAK-", "sntrys_", "glsa_", "NRAK-", "rubygems_", "FlyV1-", "fo1_", "hvs.", "dp.pt."}},
	}
}

// isJWT tells a token of three parts from one that only begins like it.
func isJWT(s string) bool {
	parts := 0
	for at := 0; at < len(s); {
		n := at
		for n < len(s) && s[n] != '.' {
			n++
		}
		if n-at >= 10 {
			parts++
		}
		at = n + 1
	}
	return parts >= 2
}

func hasDot(s string) bool {
	for i := 4; i < len(s)-8; i++ {
		if s[i] == '.' {
			return true
		}
	}
	return false
}

func isLength(n int) func(string) bool {
	return func(s string) bool { return len(s) == n }
}
