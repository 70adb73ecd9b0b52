package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/precis-dev/precis/condense"
	"github.com/precis-dev/precis/internal/suggest"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/tokens"
	"github.com/precis-dev/precis/wire/anthropic"
	"github.com/precis-dev/precis/wire/chat"
	"github.com/precis-dev/precis/wire/responses"
)

const profilePrefix = "profiles."

// key is one configurable value.
type key struct {
	name       string
	help       string
	ownDefault bool // it has a default of its own, independent of the preset
	list       bool // a list in YAML, comma-separated elsewhere
	lines      bool // a text of several lines
	gone       bool // of an earlier version, and without effect
	get        func(*Config) string
	set        func(*Config, string) error
}

// keys lists everything that can be configured, in the order it is shown.
var keys = append([]key{
	{name: "preset", help: "policy the other values start from: balanced, frugal, selective, roo, off",
		get: func(c *Config) string { return c.Settings.Preset },
		set: func(*Config, string) error { return nil }},
	boolKey("auto_condense", "reduce by itself; off still truncates when a view does not fit",
		func(c *Config) *bool { return &c.Settings.Auto }),
	numberKey("threshold", "percent of the window at which to act, 5 to 100",
		func(c *Config) *float64 { return &c.Settings.Percent }),
	countKey("threshold_tokens", "act at so many tokens of the view, whatever the window, where that is less than the threshold; 0: never", func(c *Config) *int { return &c.Settings.Tokens }),
	numberKey("prepare", "percent at which a reduction is prepared in the background; 0: never",
		func(c *Config) *float64 { return &c.Settings.Prepare }),
	numberKey("warn", "percent at which to warn; 0: never",
		func(c *Config) *float64 { return &c.Settings.Warn }),
	percentKey("target", "percent of the window to come down to; 0: what is allowed",
		func(c *Config) *float64 { return &c.Settings.Target }),
	countKey("keep.messages", "newest messages always kept",
		func(c *Config) *int { return &c.Settings.KeepMessages }),
	{name: "prune.tools", help: "tools that differ: NAME=never, NAME=last:3, NAME=over:500", list: true,
		get: toolPolicies, set: setToolPolicies},
	{name: "pin", help: "regular expression; messages' blocks it matches are never cut or hidden",
		get: func(c *Config) string { return c.Settings.Pin },
		set: func(c *Config, s string) error { c.Settings.Pin = s; return nil }},
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
	{name: "estimate", help: "way of counting: " + strings.Join(tokens.Names(), ", "), ownDefault: true,
		get: func(c *Config) string { return c.Estimate },
		set: func(c *Config, s string) error {
			if err := oneOf(s, tokens.Names()); err != nil {
				return err
			}
			c.Estimate = s
			return nil
		}},
	plainCount("window", "context window in tokens; 0: the model's",
		func(c *Config) *int { return &c.Window }),
	textKey("summarizer.model", "model that writes summaries; own: that of each conversation (gateway); empty: none, digests are written without one", func(c *Config) *string { return &c.Summarizer.Model }),
	choiceKey("summarizer.dialect", "API it speaks: anthropic, chat or responses; empty: by its name",
		[]string{"", anthropic.Format, chat.Format, responses.Format},
		func(c *Config) *string { return &c.Summarizer.Dialect }),
	textKey("summarizer.url", "address of its API; empty: that of Anthropic or OpenAI",
		func(c *Config) *string { return &c.Summarizer.URL }),
	textKey("summarizer.key_env",
		"environment variable that holds its key; empty: ANTHROPIC_API_KEY or OPENAI_API_KEY",
		func(c *Config) *string { return &c.Summarizer.KeyEnv }),
	{name: "summarizer.template",
		help: "what is asked for: nine, six or brief, or a file with a prompt of your own", ownDefault: true,
		get: func(c *Config) string { return cmp.Or(c.Summarizer.PromptFile, c.Summarizer.Template) },
		set: setTemplate},
	{name: "summarizer.prompt", help: "prompt that replaces the template", ownDefault: true, lines: true,
		get: func(c *Config) string { return c.Summarizer.Prompt }, set: setPrompt},
	textKey("summarizer.rules_file", "file with project rules that the summarizer is shown",
		func(c *Config) *string { return &c.Summarizer.RulesFile }),
	plainCount("summarizer.timeout", "seconds that one request may take; 0: 300",
		func(c *Config) *int { return &c.Summarizer.Timeout }),
	textKey("summarizer.cache", "file that keeps summaries, so that none is paid twice; empty: in the user's cache folder; off: none", func(c *Config) *string { return &c.Summarizer.Cache }),
	numberKey("spend.conversation", "dollars that condensing one conversation may cost; 0: no limit",
		func(c *Config) *float64 { return &c.Settings.Spend.Conversation }),
	numberKey("spend.owner", "dollars that condensing for one owner, that of a gateway key, may cost in a day; 0: no limit", func(c *Config) *float64 { return &c.Settings.Spend.Owner }),
	numberKey("spend.day", "dollars that condensing may cost in a day; 0: no limit",
		func(c *Config) *float64 { return &c.Settings.Spend.Day }),
	textKey("hooks.before", "command or URL asked before a model condenses; what it says is shown to the model; exit code 10 or status 409 vetoes", func(c *Config) *string { return &c.Hooks.Before }),
	textKey("hooks.after", "command or URL asked after; it is told the summary and says the one to use; exit code 10 or status 409 vetoes", func(c *Config) *string { return &c.Hooks.After }),
	textKey("hooks.alert", "command or URL told when a limit of spend.* is near or reached",
		func(c *Config) *string { return &c.Hooks.Alert }),
	listKey("sessions.roots", "folders searched for recordings, in addition to those of agent programs",
		func(c *Config) *[]string { return &c.Sessions.Roots }),
	textKey("sessions.index", "file that remembers what was read of recordings; empty: in the user's cache folder; off: none", func(c *Config) *string { return &c.Sessions.Index }),
	plainCount("memory_mb", "memory that a command may take for a recording, in MB; 0: three quarters of the machine's", func(c *Config) *int { return &c.MemoryMB }),
	textKey("models_file", "file of windows, limits and prices over the catalog",
		func(c *Config) *string { return &c.ModelsFile }),
}, gatewayKeys...)

// Row is one value for display: its key, its origin, its meaning.
type Row struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Origin string `json:"from"`
	Folder bool   `json:"folder,omitempty"` // it comes from the file in the current folder
	Help   string `json:"help"`

	list bool // Value is a list, comma-separated
}

// Rows returns every value, profiles and experiments at the end.
func (c *Config) Rows() []Row {
	var rows []Row
	for _, k := range keys {
		from := c.origins[k.name]
		rows = append(rows, Row{Key: k.name, Value: k.get(c), Origin: from.origin, Folder: from.folder,
			Help: k.help, list: k.list})
	}
	for _, name := range sortedProfiles(c.Settings.Profiles) {
		from := c.origins[profilePrefix+name]
		rows = append(rows, Row{Key: profilePrefix + name, Value: formatNumber(c.Settings.Profiles[name]),
			Origin: from.origin, Folder: from.folder,
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
	k.ownDefault = true
	return k
}

func plainBool(name, help string, at func(*Config) *bool) key {
	k := boolKey(name, help, at)
	k.ownDefault = true
	return k
}

func textKey(name, help string, at func(*Config) *string) key {
	return key{name: name, help: help, ownDefault: true,
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

// setTemplate sets the template for summaries: one by name, or a file, whose path has a dot or a slash.
func setTemplate(c *Config, s string) error {
	if strings.ContainsAny(s, `./\`) {
		c.Summarizer.PromptFile = s
		return nil
	}
	c.Summarizer.Template = s
	return oneOf(s, append(condense.Templates(), ""))
}

// setPrompt sets the prompt for summaries.
func setPrompt(c *Config, s string) error {
	if len(s) > MaxPrompt {
		return fmt.Errorf("it has %d bytes, want at most %d; a longer one can stand in a file, summarizer.template", len(s), MaxPrompt)
	}
	if !utf8.ValidString(s) || strings.ContainsFunc(s,
		func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }) {
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

// Known reports whether a key can be configured, or could at an earlier version; "profiles.NAME" always can.
func Known(name string) bool {
	return find(name) != nil || strings.HasPrefix(name, profilePrefix) && name != profilePrefix
}
