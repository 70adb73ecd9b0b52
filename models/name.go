package models

import (
	"slices"
	"strings"
)

// name is a model name split into its parts. All parts are lower case.
type name struct {
	exact    string // as written, without "[1m]"
	prefix   string // before the first slash, or the vendor of a Bedrock name
	scope    string // provider ID that the prefix names; empty if it names none
	spelling string // the bare name: no prefix, no variant, dashes for dots
	stem     string // spelling without its date or "-latest"
	variant  string // text after the colon; empty without a colon
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

// Base returns the model's own name in an ID, in lower case: without provider, date, variant, or
// serving mode, such as "-thinking", "(high)" or "-FP8". IDs with the same base mean the same
// model, or nearly.
func Base(id string) string {
	n := parseName(id)
	for {
		next, ok := n.withoutEnding()
		if !ok {
			return n.stem
		}
		n = next
	}
}

// endings are suffixes that proxies and servers use for the way a model is run: its reasoning
// effort, or the bits per number. Each also occurs in names of other models, so it is removed only
// if the whole name is unknown.
var endings = []string{
	"-thinking", "-nothinking", "-no-thinking", "-non-thinking", "-reasoning", "-non-reasoning",
	"-none", "-minimal", "-low", "-medium", "-high", "-xhigh", "-max-effort", "-fast", "-free", "-nitro",
	"-online", "-search",
	"-fp8", "-fp4", "-fp16", "-bf16", "-nvfp4", "-mxfp4", "-fp8-dynamic", "-w4a16", "-w8a8", "-int4", "-int8",
	"-awq", "-gptq", "-gptq-int4", "-gptq-int8", "-gguf", "-mlx", "-exl2", "-exl3",
	"-2bit", "-3bit", "-4bit", "-5bit", "-6bit", "-8bit", "-tee", "-turbo-fp8", "-1m", "-preview", "-default",
}

// openings are prefixes that a service adds to the names of other makers' models.
var openings = []string{"databricks-", "azure-", "bedrock-", "vertex-", "openrouter-", "copilot-",
	"anthropic-", "openai-", "google-"}

// withoutEnding returns the name without one of its endings or openings, and false if it has neither.
func (n name) withoutEnding() (name, bool) {
	bare := n.spelling
	if base, ok := cutParentheses(bare); ok {
		return n.as(base), true
	}
	if base, ok := cutBits(bare); ok {
		return n.as(base), true
	}
	for _, s := range endings {
		if base, ok := strings.CutSuffix(bare, s); ok && base != "" {
			return n.as(base), true
		}
	}
	if base, ok := strings.CutSuffix(bare, "-cloud"); ok && strings.Contains(base, ":") {
		// another window than the local model
		return n.as(strings.Replace(base, ":", "-", 1)), true
	}
	for _, p := range openings {
		if base, ok := strings.CutPrefix(bare, p); ok && base != "" {
			return n.as(base), true
		}
	}
	if base, _, ok := strings.Cut(bare, ":"); ok && base != "" && n.tagged() {
		return n.as(base), true
	}
	return n, false
}

// as returns n with another bare name.
func (n name) as(bare string) name {
	written := strings.TrimSuffix(n.exact, ":"+n.variant)
	if cut := len(n.spelling) - len(bare); strings.HasPrefix(n.spelling, bare) && cut < len(written) {
		n.exact = written[:len(written)-cut] // keeps the dots
	} else if n.exact = bare; n.prefix != "" {
		n.exact = n.prefix + "/" + bare
	}
	n.spelling, n.stem = bare, cutDate(bare)
	return n
}

// tagged reports whether the text after the colon is a way of running the model, such as ":high".
// Other tags name another model.
func (n name) tagged() bool {
	_, tag, _ := strings.Cut(n.spelling, ":")
	return slices.Contains(endings, "-"+tag) || onlyDigits(tag)
}

// cutParentheses removes "(high)" or "(16384)" from the end.
func cutParentheses(s string) (string, bool) {
	i := strings.LastIndexByte(s, '(')
	if i <= 0 || !strings.HasSuffix(s, ")") {
		return s, false
	}
	return strings.TrimSpace(s[:i]), true
}

// cutBits removes the quantization of a GGUF file from the end: "-q4_k_m", "-iq2_xs",
// "-ud-q4_k_xl".
func cutBits(s string) (string, bool) {
	i := strings.LastIndexByte(s, '-')
	if i <= 0 {
		return s, false
	}
	tail := strings.TrimPrefix(s[i+1:], "i")
	if len(tail) < 2 || tail[0] != 'q' || tail[1] < '1' || tail[1] > '8' ||
		strings.ContainsFunc(tail[2:],
			func(r rune) bool { return !strings.ContainsRune("_klmsx012345678", r) }) {
		return s, false
	}
	return strings.TrimSuffix(s[:i], "-ud"), true
}

// cutLong removes Claude Code's suffix for the long window.
func cutLong(id string) (string, bool) {
	return strings.CutSuffix(id, "[1m]")
}

// bedrockVendors are the companies at the beginning of Bedrock model IDs.
var bedrockVendors = []string{
	"anthropic", "amazon", "meta", "mistral", "cohere", "ai21", "deepseek", "openai", "qwen", "moonshot",
	"minimax", "zai", "google", "nvidia", "writer",
}

// cutBedrock removes region, vendor and version from a Bedrock ID such as
// "us.anthropic.claude-opus-4-6-v1:0" and records the provider that it names.
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

// variants are suffixes after a colon that choose how OpenRouter or Hugging Face serve the same
// model. Other words after a colon, such as an Ollama tag, name a different model and stay.
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
