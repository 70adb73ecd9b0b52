package config_test

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/config"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
)

func load(t *testing.T, yaml string, env, flags map[string]string) (*config.Config, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "p.yaml")
	if err := os.WriteFile(path, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	return config.Load(config.Sources{Path: path, Env: func(k string) string { return env[k] }, Flags: flags})
}

func TestStrongerSourcesWin(t *testing.T) {
	c, err := load(t, "preset: frugal\nthreshold: 60\nkeep:\n  messages: 7\nspend:\n  day: 3\n",
		map[string]string{"PRECIS_KEEP_MESSAGES": "8", "PRECIS_TARGET": "40"}, map[string]string{"target": "33"})
	if err != nil {
		t.Fatal(err)
	}
	s := c.Settings
	if s.Preset != "frugal" || s.Percent != 60 || s.KeepMessages != 8 || s.Spend.Day != 3 || s.Target != 33 {
		t.Errorf("%+v", s)
	}
	for key, want := range map[string]string{"threshold": "p.yaml:2", "keep.messages": "$PRECIS_KEEP_MESSAGES", "spend.day": "p.yaml:6", "target": "--set", "warn": "preset frugal", "estimate": "default"} {
		if got := c.Origin(key); !strings.HasSuffix(got, want) {
			t.Errorf("%s is from %q, want %q", key, got, want)
		}
	}
}

// A preset that is named for one command leaves the user's limits on spending alone.
func TestPresetsKeepLimitsOnSpending(t *testing.T) {
	for _, name := range preset.Names() {
		c, err := load(t, "preset: frugal\nspend: {conversation: 1, day: 2, owner: 0.5}\n", nil, map[string]string{"preset": name})
		if err != nil {
			t.Fatal(err)
		}
		if want := (policy.Spend{Conversation: 1, Day: 2, Owner: 0.5}); c.Settings.Spend != want || c.Settings.Preset != name {
			t.Errorf("%s: %+v", name, c.Settings)
		}
	}
}

func TestEveryKeyCanBeSetByEveryName(t *testing.T) {
	c, err := config.Load(config.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range c.Rows() {
		if r.Help == "" || r.Origin == "" {
			t.Errorf("%s has no meaning or origin", r.Key)
		}
		if r.Value == "" {
			continue
		}
		if _, err := config.Load(config.Sources{Flags: map[string]string{r.Key: r.Value}}); err != nil {
			t.Errorf("%s does not take its own value %q: %v", r.Key, r.Value, err)
		}
	}
}

func TestErrorsNameTheLine(t *testing.T) {
	for yaml, want := range map[string]string{
		"threshold: 60\nwhat: 3\n":           "p.yaml:2: what: unknown key",
		"keep:\n  message: 3\n":              "p.yaml:2: message: unknown key",
		"keep: 3\n":                          "want a mapping",
		"threshold: [1]\n":                   "want a single value",
		"keep:\n  messages: -1\n":            "must not be negative",
		"auto_condense: maybe\n":             "neither true nor false",
		"profiles:\n  m: high\n":             "want a percentage",
		"preset: best\n":                     `unknown preset "best"`,
		"warn: 900\n":                        "warn is 900, want 0 to 100",
		"threshold: 60\nthreshold: 70\n":     "already defined",
		"estimate: words\n":                  "is none of",
		strings.Repeat("[", 5000) + "\n":     "more than 64 brackets",
		"rungs: dedupe\n":                    "want a list of texts",
		"rungs: [dedupe, digset]\n":          "p.yaml:1: rungs: \"digset\" is none of dedupe, fold, media, selective, condense, digest, prune, squeeze, digest-more, truncate, clip; did you mean digest?",
		"rungs: [Truncate]\n":                "did you mean truncate?",
		"gateway: {cert_files: [a, b, c]}\n": "want one file or two",
		"gateway: {tools: [recal]}\n":        "did you mean recall?",
		"summarizer: {template: ten}\n":      "is none of nine, six, brief",
		"summarizer: {dialect: openai}\n":    "is none of anthropic, chat, responses",
		"gateway: {bridge: of}\n":            "is none of missing, digest, off; did you mean off?",
		"estimate: o200\n":                   "did you mean o200k?",
		"pin: |\n  a\n  b\n":                 "want a single value",
		"summarizer:\n  prompt: [a]\n":       "want a single value",
		"summarizer: {prompt: \"a\\0b\"}\n":  "p.yaml:1: summarizer.prompt: it is no text",
		"summarizer:\n  prompt: " + strings.Repeat("x", config.MaxPrompt+1) + "\n": "it has 12001 bytes, want at most 12000",
		"pin: " + strings.Repeat("x", 17_000) + "\n":                               "longer than 16000 bytes",
	} {
		_, err := load(t, yaml, nil, nil)
		if precis.CodeOf(err) != precis.CodeInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", yaml, err, want)
		}
	}
}

func TestThresholdsOutOfRangeWarn(t *testing.T) {
	c, err := load(t, "threshold: 200\nprofiles:\n  a: 4\n  b: -1\n  c: 50\n", nil, nil)
	if err != nil || len(c.Warnings) != 2 {
		t.Errorf("%v, warnings %q", err, c.Warnings)
	}
	c, err = load(t, "threshold: 60\nprofiles:\n  a: 4\n", nil, nil)
	if err != nil || len(c.Warnings) != 1 || !strings.HasSuffix(c.Warnings[0], "using the global 60") {
		t.Errorf("%v, warnings %q: not the number that is used", err, c.Warnings)
	}
}

func TestParseCount(t *testing.T) {
	for in, want := range map[string]int{"200k": 200_000, "1M": 1_000_000, "128_000": 128_000, "7": 7} {
		if got, err := config.ParseCount(in); err != nil || got != want {
			t.Errorf("%s: %d, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "k", "-3", "1.5k", "many"} {
		if n, err := config.ParseCount(in); err == nil {
			t.Errorf("%q is %d", in, n)
		}
	}
}

// A prompt of several lines is read as YAML means it, an arm of an experiment can have
// its own, and one that takes the file's away can use a text in its place.
func TestPrompts(t *testing.T) {
	c, err := load(t, "summarizer:\n  prompt: |\n    Sum it up.\n\n      * files\nexperiments:\n  words:\n    arms:\n      now: {}\n      file: {summarizer: {prompt: \"\", template: p.txt}}\n", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.Summarizer.Prompt != "Sum it up.\n\n  * files\n" {
		t.Errorf("prompt %q", c.Summarizer.Prompt)
	}
	if a := c.Arm("words/file").Summarizer; a.Prompt != "" || a.PromptFile != "p.txt" {
		t.Errorf("arm %+v", a)
	}
	for _, r := range c.Rows() {
		if r.Key == "summarizer.prompt" && (r.Masked().Value != r.Value || r.Brief().Value != "Sum it up. …") {
			t.Errorf("shown are %q and %q", r.Masked().Value, r.Brief().Value)
		}
	}
}

// Keys that took the place of several set what those set, and show it.
func TestMergedKeys(t *testing.T) {
	c, err := load(t, "gateway:\n  keys_file: off\n  cert_files: [a.pem, b.pem]\n  upstream_cert_files: [own.pem]\n  others: [mine=https://m, anthropic=https://a]\n  tools: [recall, edits]\nsummarizer:\n  template: ./p\n", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	g := c.Gateway
	if !g.Public || g.KeysFile != "" || g.CertFile != "a.pem" || g.KeyFile != "b.pem" || g.UpstreamCert != "own.pem" || g.UpstreamKey != "own.pem" || g.Anthropic != "https://a" ||
		!slices.Equal(g.Others, []string{"mine=https://m"}) || !g.Recall || !g.MCPEdits || g.CondenseTool || c.Summarizer.PromptFile != "./p" || c.Summarizer.Template != "" {
		t.Errorf("%+v %+v", g, c.Summarizer)
	}
	want := map[string]string{"gateway.keys_file": "off", "gateway.cert_files": "a.pem,b.pem", "gateway.upstream_cert_files": "own.pem", "gateway.others": "anthropic=https://a,mine=https://m",
		"gateway.tools": "recall,edits", "summarizer.template": "./p"}
	for _, r := range c.Rows() {
		if v, ok := want[r.Key]; ok && (v != r.Value || !c.Given(r.Key)) {
			t.Errorf("%s is %q by %s", r.Key, r.Value, r.Origin)
		}
	}
}

// Whatever source a bad value comes from, the error names it: every key that refuses a value is tried.
func TestErrorsNameTheSource(t *testing.T) {
	bad := map[string]string{"pin": "(", "summarizer.prompt": "a\x01", "spend.day": "-1", "warn": "900", "gateway.cert_files": "a,b,c"}
	refusing := 0
	for _, key := range config.Keys() {
		value := cmp.Or(bad[key], "no-such-value")
		variable := "PRECIS_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
		_, byFlag := load(t, "", nil, map[string]string{key: value})
		_, byEnv := load(t, "", map[string]string{variable: value}, nil)
		if byFlag == nil && byEnv == nil {
			continue
		}
		refusing++
		path := filepath.Join(t.TempDir(), "p.yaml")
		text := strings.ReplaceAll(fmt.Sprintf("%q", value), `\x01`, `\u0001`)
		if slices.Contains([]string{"rungs", "prune.tools", "gateway.tools", "gateway.cert_files", "gateway.upstream_cert_files"}, key) {
			text = "[" + text + "]"
		}
		if err := os.WriteFile(path, []byte("\n"+asYAML(key, text)), 0o600); err != nil {
			t.Fatal(err)
		}
		_, byName := config.Load(config.Sources{Flags: map[string]string{key: value}, Names: map[string]string{key: "--its-flag"}})
		_, byFile := config.Load(config.Sources{Path: path})
		line := ":2"
		if strings.Contains(key, ".") {
			line = ":3"
		}
		for place, err := range map[string]error{"--set": byFlag, "--its-flag": byName, "$" + variable: byEnv, path + line: byFile} {
			if precis.CodeOf(err) != precis.CodeInvalid || !strings.Contains(err.Error(), place+": "+key) {
				t.Errorf("%s by %s: %v", key, place, err)
			}
		}
	}
	if refusing < 24 {
		t.Errorf("only %d keys refuse a value", refusing)
	}
}

var update = flag.Bool("update", false, "write the reference of keys")

// The reference lists every key with its default and its meaning, and no other key; there are at
// most 50.
func TestReference(t *testing.T) {
	c, err := config.Load(config.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	const from, to = "| key | default | meaning |\n|---|---|---|\n", "\n## "
	var want strings.Builder
	for _, r := range c.Rows() {
		value := ""
		if r.Value != "" {
			value = "`" + r.Value + "`"
		}
		fmt.Fprintf(&want, "| `%s` | %s | %s |\n", r.Key, value, r.Help)
	}
	if n := len(config.Keys()); n > 50 {
		t.Errorf("there are %d keys", n)
	}
	path := filepath.Join("..", "..", "..", "docs", "configuration.md")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(data), from)
	is, after, ok := strings.Cut(rest, to)
	if !ok {
		t.Fatalf("%s has no table of keys", path)
	}
	if *update {
		if err := os.WriteFile(path, []byte(before+from+want.String()+to+after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if is != want.String() {
		t.Errorf("%s differs from the code: go test ./cmd/internal/config -run Reference -update\n%s", path, is)
	}
}
