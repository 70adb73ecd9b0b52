package models

import (
	"slices"
	"strings"
)

// name is a model name split into its parts. All parts are lower case.
type name struct {
	exact    string // as written, without "[1m]"
	prefix   string // before the first slash, or the vendor of a Bedrock name
	scope    string // the provider ID the prefix means; empty if it means none
	spelling string // the bare name: no prefix, no variant, dashes for dots
	stem     string // spelling without its date or "-latest"
	variant  string // what followed the colon; empty if nothing did
	long     bool   // written with Claude Code's "[1m]"
}

// dated reports whether the name carries a date or "-latest".
func (n name) dated() bool { return n.spelling != n.stem }

func parseName(id string) name {
	var n name
	n.exact, n.long = cutLong(strings.ToLower(strings.TrimSpace(id)))
	bare := n.exact
	if i := strings.IndexByte(bare, '/'); i >= 0 {
		n.prefix = bare[:i]
		n.scope = providerOf(n.prefix)
		bare = bare[strings.LastIndexByte(bare, '/')+1:]
	}
	bare = n.cutBedrock(bare)
	bare = n.cutVariant(bare)
	n.spelling = strings.ReplaceAll(strings.ReplaceAll(bare, ".", "-"), "@", "-")
	n.stem = cutDate(n.spelling)
	return n
}

// cutLong removes the suffix by which Claude Code asks for the long window.
func cutLong(id string) (string, bool) {
	return strings.CutSuffix(id, "[1m]")
}

// bedrockVendors are the companies whose names open a Bedrock model ID.
var bedrockVendors = []string{
	"anthropic", "amazon", "meta", "mistral", "cohere", "ai21", "deepseek", "openai", "qwen", "moonshot", "minimax", "zai", "google", "nvidia", "writer",
}

// cutBedrock removes region, vendor and version from a Bedrock ID such as
// "us.anthropic.claude-opus-4-6-v1:0" and notes the provider it points to.
func (n *name) cutBedrock(bare string) string {
	region := ""
	vendor, rest, ok := strings.Cut(bare, ".")
	if ok && !slices.Contains(bedrockVendors, vendor) {
		region = vendor
		vendor, rest, ok = strings.Cut(rest, ".")
	}
	if !ok || !slices.Contains(bedrockVendors, vendor) {
		return bare
	}
	n.prefix, n.scope = vendor, "bedrock"
	if region == "eu" {
		n.scope = "bedrock-europe"
	}
	return cutVersion(rest)
}

// cutVersion removes "-v1", "-v1:0" and the like from the end.
func cutVersion(s string) string {
	i := strings.LastIndex(s, "-v")
	if i < 0 || !onlyDigits(strings.ReplaceAll(s[i+2:], ":", "")) {
		return s
	}
	return s[:i]
}

// variants are the suffixes OpenRouter and Hugging Face put behind a colon to
// choose how the same model is served. Other words behind a colon, such as an
// Ollama tag, name a different model and stay.
var variants = []string{
	"free", "nitro", "floor", "online", "thinking", "extended", "beta", "exacto",
	"cerebras", "fireworks-ai", "groq", "together", "novita",
}

func (n *name) cutVariant(bare string) string {
	base, variant, ok := strings.Cut(bare, ":")
	if !ok || !slices.Contains(variants, variant) {
		return bare
	}
	n.variant = variant
	return base
}

// cutDate removes "-latest", "-20250929" or "-2025-09-29" from the end.
func cutDate(s string) string {
	if base, ok := strings.CutSuffix(s, "-latest"); ok {
		return base
	}
	for _, form := range []string{"-20dddddd", "-20dd-dd-dd"} {
		if i := len(s) - len(form); i > 0 && hasForm(s[i:], form) {
			return s[:i]
		}
	}
	return s
}

// hasForm reports whether s is form with a digit for each d.
func hasForm(s, form string) bool {
	for i := range len(form) {
		if form[i] == 'd' && !onlyDigits(s[i:i+1]) || form[i] != 'd' && form[i] != s[i] {
			return false
		}
	}
	return true
}

func onlyDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
