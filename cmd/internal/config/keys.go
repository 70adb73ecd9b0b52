package config

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"precis/condense"
	"precis/internal/suggest"
	"precis/policy"
	"precis/preset"
	"precis/tokens"
	"precis/wire/anthropic"
	"precis/wire/chat"
	"precis/wire/responses"
)

const profilePrefix = "profiles."

// key is one configurable value.
type key struct {
	name  string
	help  string
	plain bool // it has a default of its own, independent of the preset
	list  bool // a list in YAML, comma-separated elsewhere
	lines bool // a text of several lines
	get   func(*Config) string
	set   func(*Config, string) error
}

// keys lists everything that can be configured, in the order it is shown.
var keys = append([]key{
	{name: "preset", help: "policy the other values start from: balanced, frugal, selective, roo, off",
		get: func(c *Config) string { return c.Settings.Preset }, set: func(*Config, string) error { return nil }},
	boolKey("auto_condense", "reduce by itself; off still truncates when a view does not fit", func(c *Config) *bool { return &c.Settings.Auto }),
	numberKey("threshold", "percent of the window at which to act, 5 to 100", func(c *Config) *float64 { return &c.Settings.Percent }),
	countKey("threshold_tokens", "act at so many tokens of the view, whatever the window, where that is less than the threshold; 0: never", func(c *Config) *int { return &c.Settings.Tokens }),
	numberKey("prepare", "percent at which a reduction is prepared in the background; 0: never", func(c *Config) *float64 { return &c.Settings.Prepare }),
	numberKey("warn", "percent at which to warn; 0: never", func(c *Config) *float64 { return &c.Settings.Warn }),
	percentKey("target", "percent of the window to come down to; 0: what is allowed", func(c *Config) *float64 { return &c.Settings.Target }),
	countKey("room.turns", "a reduction makes room for so many turns like the last ones, even below the target; 0: it does not", func(c *Config) *int { return &c.Settings.Turns }),
	numberKey("room.floor", "percent of the window that room.turns does not go below", func(c *Config) *float64 { return &c.Settings.Floor }),
	countKey("max_messages", "act from so many messages on; 0: never", func(c *Config) *int { return &c.Settings.MaxMessages }),
	countKey("max_turns", "act from so many user turns on; 0: never", func(c *Config) *int { return &c.Settings.MaxTurns }),
	countKey("keep.messages", "newest messages always kept", func(c *Config) *int { return &c.Settings.KeepMessages }),
	countKey("keep.first", "oldest messages always kept", func(c *Config) *int { return &c.Settings.KeepFirst }),
	countKey("thinking.keep", "newest turns whose reasoning stays when a view is reduced; 0: all of it", func(c *Config) *int { return &c.Settings.KeepThinking }),
	numberKey("keep.share", "share of the window kept for the newest messages, 0 to 1", func(c *Config) *float64 { return &c.Settings.KeepShare }),
	numberKey("truncate.fraction", "share of the messages truncation hides at least, 0 to 1", func(c *Config) *float64 { return &c.Settings.Fractions.Truncate }),
	countKey("truncate.keep_last", "truncation keeps the last so many messages instead; 0: use the fraction", func(c *Config) *int { return &c.Settings.Fractions.KeepLast }),
	countKey("shrink_over", "arguments of old calls over so many characters are shortened; 0: never", func(c *Config) *int { return &c.Settings.Fractions.ShrinkOver }),
	countKey("prune.over", "old tool results over so many characters become previews", func(c *Config) *int { return &c.Settings.Fractions.PruneOver }),
	countKey("prune.errors_over", "results that are errors do so only from here on", func(c *Config) *int { return &c.Settings.Fractions.ErrorsOver }),
	{name: "prune.tools", help: "tools that differ: NAME=never, NAME=last:3, NAME=over:500", list: true, get: toolPolicies, set: setToolPolicies},
	{name: "pin", help: "regular expression; messages' blocks it matches are never cut or hidden",
		get: func(c *Config) string { return c.Settings.Pin }, set: func(c *Config, s string) error { c.Settings.Pin = s; return nil }},
	countKey("media_keep", "newest images kept", func(c *Config) *int { return &c.Settings.Fractions.MediaKeep }),
	{name: "rungs", help: "strategies to climb, in order: " + strings.Join(preset.Rungs(), ", "), list: true,
		get: func(c *Config) string {
			if c.Settings.Rungs == nil {
				return "all"
			}
			return strings.Join(c.Settings.Rungs, ",")
		},
		set: func(c *Config, s string) error {
			if s == "all" {
				c.Settings.Rungs = nil
				return nil
			}
			names := strings.Split(strings.ReplaceAll(s, " ", ""), ",")
			for _, name := range names {
				if err := oneOf(name, preset.Rungs()); err != nil {
					return err
				}
			}
			c.Settings.Rungs = names
			return nil
		}},
	numberKey("buffer", "share of the window never used, 0 to 0.5", func(c *Config) *float64 { return &c.Settings.Buffer }),
	numberKey("worth", "least share a run must save, 0 to 1", func(c *Config) *float64 { return &c.Settings.Worth }),
	countKey("cap.turns", "turns looked back on by the loop cap; 0: no cap", func(c *Config) *int { return &c.Settings.Cap.Window }),
	countKey("cap.runs", "most runs in them", func(c *Config) *int { return &c.Settings.Cap.Max }),
	countKey("cap.idle", "most runs in a row that save too little", func(c *Config) *int { return &c.Settings.Cap.NoProgress }),
	countKey("min_model_window", "smaller windows get no model summary, in tokens", func(c *Config) *int { return &c.Settings.MinModel }),
	{name: "estimate", help: "way of counting: " + strings.Join(tokens.Names(), ", "), plain: true,
		get: func(c *Config) string { return c.Estimate },
		set: func(c *Config, s string) error {
			if err := oneOf(s, tokens.Names()); err != nil {
				return err
			}
			c.Estimate = s
			return nil
		}},
	textKey("model", "model whose window counts; empty: the one the recording names", func(c *Config) *string { return &c.Model }),
	plainCount("window", "context window in tokens; 0: the model's", func(c *Config) *int { return &c.Window }),
	plainCount("max_output", "output tokens reserved; 0: unknown", func(c *Config) *int { return &c.MaxOutput }),
	textKey("summarizer.model", "model that writes summaries; own: that of each conversation (gateway); empty: none, digests are written without one", func(c *Config) *string { return &c.Summarizer.Model }),
	choiceKey("summarizer.dialect", "API it speaks: anthropic, chat or responses; empty: by its name", []string{"", anthropic.Format, chat.Format, responses.Format}, func(c *Config) *string { return &c.Summarizer.Dialect }),
	textKey("summarizer.url", "address of its API; empty: that of Anthropic or OpenAI", func(c *Config) *string { return &c.Summarizer.URL }),
	textKey("summarizer.key_env", "environment variable that holds its key; empty: ANTHROPIC_API_KEY or OPENAI_API_KEY", func(c *Config) *string { return &c.Summarizer.KeyEnv }),
	choiceKey("summarizer.mode", "keep-recent or fresh-start", []string{"", string(condense.KeepRecent), string(condense.FreshStart)}, func(c *Config) *string { return &c.Summarizer.Mode }),
	choiceKey("summarizer.template", "what is asked for: nine, six or brief", append([]string{""}, condense.Templates()...), func(c *Config) *string { return &c.Summarizer.Template }),
	{name: "summarizer.prompt", help: "prompt that replaces the template", plain: true, lines: true,
		get: func(c *Config) string { return c.Summarizer.Prompt }, set: setPrompt},
	textKey("summarizer.prompt_file", "file with such a prompt, instead of summarizer.prompt", func(c *Config) *string { return &c.Summarizer.PromptFile }),
	textKey("summarizer.rules_file", "file with project rules that the summarizer is shown", func(c *Config) *string { return &c.Summarizer.RulesFile }),
	plainCount("summarizer.max_tokens", "size of a summary in tokens; 0: 8192", func(c *Config) *int { return &c.Summarizer.MaxTokens }),
	plainCount("summarizer.timeout", "seconds that one request may take; 0: 300", func(c *Config) *int { return &c.Summarizer.Timeout }),
	plainBool("summarizer.selective", "have it summarize single tool results first", func(c *Config) *bool { return &c.Summarizer.Selective }),
	textKey("summarizer.cache", "file that keeps summaries, so that none is paid twice; empty: in the user's cache folder; off: none", func(c *Config) *string { return &c.Summarizer.Cache }),
	plainBool("summarizer.reasoning", "put a reasoning block before a summary that stands as the assistant's, for models that expect one", func(c *Config) *bool { return &c.Summarizer.Reasoning }),
	plainBool("summarizer.self_check", "have it score each summary, for the price of another request", func(c *Config) *bool { return &c.Summarizer.SelfCheck }),
	numberKey("spend.conversation", "dollars that condensing one conversation may cost; 0: no limit", func(c *Config) *float64 { return &c.Settings.Spend.Conversation }),
	numberKey("spend.owner", "dollars that condensing for one owner, that of a gateway key, may cost in a day; 0: no limit", func(c *Config) *float64 { return &c.Settings.Spend.Owner }),
	numberKey("spend.day", "dollars that condensing may cost in a day; 0: no limit", func(c *Config) *float64 { return &c.Settings.Spend.Day }),
	numberKey("spend.warn", "share of these from which to warn, 0 to 1; 0: 0.8", func(c *Config) *float64 { return &c.Settings.Spend.Warn }),
	textKey("hooks.before", "command or URL asked before a model condenses; what it says is shown to the model; exit code 10 or status 409 vetoes", func(c *Config) *string { return &c.Hooks.Before }),
	textKey("hooks.after", "command or URL asked after; it is told the summary and says the one to use; exit code 10 or status 409 vetoes", func(c *Config) *string { return &c.Hooks.After }),
	textKey("hooks.rung_before", "command or URL asked before every rung is tried, with or without a model; exit code 10 or status 409 skips it", func(c *Config) *string { return &c.Hooks.RungBefore }),
	textKey("hooks.rung_after", "command or URL asked about what a rung proposes; it says the text to show in the place of messages, or nothing; exit code 10 or status 409 refuses", func(c *Config) *string { return &c.Hooks.RungAfter }),
	textKey("hooks.alert", "command or URL told when a limit of spend.* is near or reached", func(c *Config) *string { return &c.Hooks.Alert }),
	listKey("sessions.roots", "folders searched for recordings, in addition to those of agent programs", func(c *Config) *[]string { return &c.Sessions.Roots }),
	textKey("sessions.index", "file that remembers what was read of recordings; empty: in the user's cache folder; off: none", func(c *Config) *string { return &c.Sessions.Index }),
	plainCount("memory_mb", "memory that a command may take for a recording, in MB; 0: three quarters of the machine's", func(c *Config) *int { return &c.MemoryMB }),
	textKey("models_file", "file of windows, limits and prices over the catalog", func(c *Config) *string { return &c.ModelsFile }),
}, gatewayKeys...)

// rare are the keys that few people have a reason to set: presets choose them well, or they are for unusual
// installations.
var rare = strings.Fields(`
	prepare room.turns room.floor max_messages max_turns keep.first thinking.keep keep.share truncate.fraction
	truncate.keep_last shrink_over prune.over prune.errors_over prune.tools media_keep buffer worth cap.turns cap.runs
	cap.idle min_model_window summarizer.mode summarizer.template summarizer.prompt_file summarizer.max_tokens
	summarizer.timeout summarizer.selective summarizer.cache summarizer.reasoning summarizer.self_check spend.warn
	hooks.rung_before hooks.rung_after sessions.index gateway.profiles gateway.secret_file gateway.public
	gateway.upstream_ca_file gateway.upstream_cert_file gateway.upstream_key_file gateway.proxy gateway.otlp_endpoint
	gateway.requests_mb gateway.max_body_mb gateway.max_requests gateway.keep_alive gateway.drain_delay gateway.native`)

// Row is one value for display: its key, its origin, its meaning.
type Row struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Origin string `json:"from"`
	Folder bool   `json:"folder,omitempty"` // it comes from the file in the current folder
	Help   string `json:"help"`
	Rare   bool   `json:"rare,omitempty"` // few people have a reason to set it, and it is not set

	list bool // Value is a list, comma-separated
}

// Rows returns every value, profiles and experiments at the end.
func (c *Config) Rows() []Row {
	var rows []Row
	for _, k := range keys {
		from := c.origins[k.name]
		rows = append(rows, Row{
			Key: k.name, Value: k.get(c), Origin: from.origin, Folder: from.folder, Help: k.help,
			Rare: slices.Contains(rare, k.name) && !c.Given(k.name), list: k.list,
		})
	}
	for _, name := range sortedProfiles(c.Settings.Profiles) {
		from := c.origins[profilePrefix+name]
		rows = append(rows, Row{Key: profilePrefix + name, Value: formatNumber(c.Settings.Profiles[name]), Origin: from.origin, Folder: from.folder,
			Help: "threshold of this profile or model; -1: the global one"})
	}
	return append(rows, c.experimentRows()...)
}

// Given reports whether a key was set, instead of left to its preset or default.
func (c *Config) Given(name string) bool {
	o := c.Origin(name)
	return o != "" && o != "default" && !strings.HasPrefix(o, "preset ")
}

// Origin returns where the value of a key came from.
func (c *Config) Origin(name string) string { return c.origins[name].origin }

func sortedProfiles(m map[string]float64) []string { return slices.Sorted(maps.Keys(m)) }

func boolKey(name, help string, at func(*Config) *bool) key {
	return key{name: name, help: help,
		get: func(c *Config) string { return strconv.FormatBool(*at(c)) },
		set: func(c *Config, s string) error {
			switch strings.ToLower(s) {
			case "true", "on", "yes", "1":
				*at(c) = true
			case "false", "off", "no", "0":
				*at(c) = false
			default:
				return fmt.Errorf("%q is neither true nor false", s)
			}
			return nil
		}}
}

func numberKey(name, help string, at func(*Config) *float64) key {
	return key{name: name, help: help,
		get: func(c *Config) string { return formatNumber(*at(c)) },
		set: func(c *Config, s string) (err error) {
			*at(c), err = parseNumber(s)
			return err
		}}
}

// percentKey is a key with a percentage of the window, see [policy.ParsePercent].
func percentKey(name, help string, at func(*Config) *float64) key {
	k := numberKey(name, help, at)
	k.set = func(c *Config, s string) (err error) {
		*at(c), err = policy.ParsePercent(s)
		return err
	}
	return k
}

func countKey(name, help string, at func(*Config) *int) key {
	return key{name: name, help: help,
		get: func(c *Config) string { return strconv.Itoa(*at(c)) },
		set: func(c *Config, s string) error {
			n, err := ParseCount(s)
			if err == nil {
				*at(c) = n
			}
			return err
		}}
}

func plainCount(name, help string, at func(*Config) *int) key {
	k := countKey(name, help, at)
	k.plain = true
	return k
}

func plainBool(name, help string, at func(*Config) *bool) key {
	k := boolKey(name, help, at)
	k.plain = true
	return k
}

func textKey(name, help string, at func(*Config) *string) key {
	return key{name: name, help: help, plain: true,
		get: func(c *Config) string { return *at(c) },
		set: func(c *Config, s string) error { *at(c) = s; return nil }}
}

// choiceKey is a key with a fixed set of values.
func choiceKey(name, help string, choices []string, at func(*Config) *string) key {
	k := textKey(name, help, at)
	k.set = func(c *Config, s string) error {
		if err := oneOf(s, choices); err != nil {
			return err
		}
		*at(c) = s
		return nil
	}
	return k
}

// oneOf returns an error when a word is not among the choices.
func oneOf(word string, choices []string) error {
	if slices.Contains(choices, word) {
		return nil
	}
	choices = slices.DeleteFunc(slices.Clone(choices), func(s string) bool { return s == "" })
	err := fmt.Errorf("%.40q is none of %s", word, strings.Join(choices, ", "))
	if near := suggest.DidYouMean(word, choices); near != "" {
		err = fmt.Errorf("%w; %s", err, near)
	}
	return err
}

// setPrompt sets the prompt for summaries.
func setPrompt(c *Config, s string) error {
	if len(s) > MaxPrompt {
		return fmt.Errorf("it has %d bytes, want at most %d; a longer one can stand in a file, summarizer.prompt_file", len(s), MaxPrompt)
	}
	if !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }) {
		return errors.New("it is no text: it has characters that cannot be seen")
	}
	c.Summarizer.Prompt = s
	return nil
}

func parseNumber(s string) (float64, error) {
	f, err := strconv.ParseFloat(strings.TrimSuffix(s, "%"), 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no number", s)
	}
	return f, nil
}

func formatNumber(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// ParseCount reads a whole number, which may end in k (thousand) or m
// (million), in upper or lower case.
func ParseCount(s string) (int, error) {
	scale := 1
	switch {
	case strings.HasSuffix(s, "k"), strings.HasSuffix(s, "K"):
		s, scale = s[:len(s)-1], 1000
	case strings.HasSuffix(s, "M"), strings.HasSuffix(s, "m"):
		s, scale = s[:len(s)-1], 1_000_000
	}
	n, err := strconv.Atoi(strings.ReplaceAll(s, "_", ""))
	if err != nil {
		return 0, fmt.Errorf("%q is no whole number", s)
	}
	if n < 0 {
		return 0, errors.New("it must not be negative")
	}
	if n > math.MaxInt32/scale {
		return 0, fmt.Errorf("%s is more than %d", s, math.MaxInt32)
	}
	return n * scale, nil
}

// Keys returns the names of all keys.
func Keys() []string {
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = k.name
	}
	return out
}

// Known reports whether a key can be configured; "profiles.NAME" always can.
func Known(name string) bool {
	return slices.ContainsFunc(keys, func(k key) bool { return k.name == name }) ||
		strings.HasPrefix(name, profilePrefix) && name != profilePrefix
}
