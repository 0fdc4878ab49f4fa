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

// rules is the table. Forms are those that the issuers document; lengths are
// at least a little below theirs, so that a token which lost some characters
// is found too.
func rules() []rule {
	alnum := classOf(digits + upper + lower)
	under := classOf(digits + upper + lower + "_")
	url := classOf(digits + upper + lower + "_-")
	dots := classOf(digits + upper + lower + "_-.")
	base := classOf(digits + upper + lower + "_-+/=.")
	hex := classOf(digits + "abcdefABCDEF")
	capitals := classOf(digits + upper)
	table := []rule{
		{name: "private-key", word: "-----begin", fold: true, find: findPrivateKey},
		{name: "address-password", word: "://", find: findAddress},
		{name: "authorization", word: "authorization", fold: true, find: findAuthorization},
		{name: "bearer", word: "bearer", fold: true, find: findBearer},
		{name: "cookie", word: "cookie", fold: true, find: findCookie},
		{name: "jwt", word: "eyJ", class: dots, min: 20, ok: isJWT},
		{name: "telegram-token", word: ":AA", find: findTelegram},
		{name: "slack-webhook", word: "hooks.slack.com/", class: classOf(digits + upper + lower + "_-/+"), min: 20},
		{name: "discord-webhook", word: "/api/webhooks/", class: classOf(digits + upper + lower + "_-/"), min: 40},
		{name: "aws-key", word: "AKIA", class: capitals, min: 16, ok: isLength(20)},
		{name: "aws-key", word: "ASIA", class: capitals, min: 16, ok: isLength(20)},
		{name: "aws-key", word: "ABIA", class: capitals, min: 16, ok: isLength(20)},
		{name: "twilio-key", word: "SK", class: hex, min: 32, ok: isLength(34)},
		{name: "mailgun-key", word: "key-", class: hex, min: 32, ok: isLength(36)},
		{name: "sendgrid-key", word: "SG.", class: dots, min: 30, ok: hasDot},
		{name: "doppler-token", word: "dp.pt.", class: alnum, min: 30},
		{name: "vault-token", word: "hvs.", class: url, min: 20},
		{name: "google-token", word: "ya29.", class: url, min: 20},
		{name: "azure-key", word: "AccountKey=", class: base, min: 40},
		{name: "azure-key", word: "SharedAccessKey=", class: base, min: 30},
		{name: "databricks-token", word: "dapi", class: hex, min: 32},
		// sk- keys, of whichever provider, have at least 20 characters.
		{name: "sk-key", word: "sk-", class: url, min: 17},
		{name: "stripe-key", word: "sk_live_", class: under, min: 10},
		{name: "stripe-key", word: "sk_test_", class: under, min: 10},
		{name: "stripe-key", word: "rk_live_", class: under, min: 10},
		{name: "stripe-key", word: "rk_test_", class: under, min: 10},
		{name: "stripe-key", word: "whsec_", class: base, min: 24},
	}
	tokens := func(name string, c *class, min int, words ...string) {
		for _, w := range words {
			table = append(table, rule{name: name, word: w, class: c, min: min})
		}
	}
	tokens("github-token", alnum, 30, "ghp_", "gho_", "ghu_", "ghs_", "ghr_")
	tokens("github-token", under, 22, "github_pat_")
	tokens("gitlab-token", dots, 20, "glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glft-", "glsoat-", "gloas-")
	tokens("slack-token", url, 10, "xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe-", "xoxo-", "xapp-")
	tokens("google-key", url, 30, "AIza")
	tokens("google-secret", url, 20, "GOCSPX-")
	tokens("npm-token", alnum, 30, "npm_")
	tokens("pypi-token", url, 50, "pypi-")
	tokens("huggingface-token", alnum, 30, "hf_")
	tokens("provider-key", under, 24, "gsk_", "r8_", "xai-", "pplx-", "sbp_", "lin_api_", "ntn_", "figd_", "rnd_", "nvapi-")
	tokens("digitalocean-token", hex, 60, "dop_v1_", "doo_v1_", "dor_v1_")
	tokens("docker-token", url, 20, "dckr_pat_")
	tokens("shopify-token", hex, 30, "shpat_", "shpss_", "shpca_", "shppa_")
	tokens("square-token", url, 20, "sq0atp-", "sq0csp-")
	tokens("atlassian-token", base, 40, "ATATT3xFf", "ATCTT3xFf")
	tokens("age-key", capitals, 50, "AGE-SECRET-KEY-1")
	tokens("service-token", url, 16, "tskey-", "PMAK-", "sntrys_", "glsa_", "NRAK-", "rubygems_", "FlyV1-", "fo1_")
	for _, w := range assignWords {
		table = append(table, rule{name: "assignment", word: w, fold: true, find: findAssignment})
	}
	return table
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
