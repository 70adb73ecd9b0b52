package config

import (
	_ "embed" // the table
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/precis-dev/precis/internal/table"
)

//go:embed old.txt
var oldText string

// old are the keys of earlier versions.
var old = table.Lazy("old.txt", oldText, "key", "new", "instead")

// oldKeys are the keys of earlier versions that still have their effect: they name a key in force, or
// bound where data goes and what is shown.
var oldKeys = []key{
	textKey("summarizer.prompt_file", "", func(c *Config) *string { return &c.Summarizer.PromptFile }),
	plainBool("summarizer.selective", "", func(c *Config) *bool { return &c.Summarizer.Selective }),
	plainBool("summarizer.reasoning", "", func(c *Config) *bool { return &c.Summarizer.Reasoning }),
	textKey("hooks.rung_before", "", func(c *Config) *string { return &c.Hooks.RungBefore }),
	textKey("hooks.rung_after", "", func(c *Config) *string { return &c.Hooks.RungAfter }),
	textKey("gateway.anthropic", "", func(c *Config) *string { return &c.Gateway.Anthropic }),
	textKey("gateway.openai", "", func(c *Config) *string { return &c.Gateway.OpenAI }),
	plainBool("gateway.public", "", func(c *Config) *bool { return &c.Gateway.Public }),
	textKey("gateway.cert_file", "", func(c *Config) *string { return &c.Gateway.CertFile }),
	textKey("gateway.key_file", "", func(c *Config) *string { return &c.Gateway.KeyFile }),
	textKey("gateway.upstream_ca_file", "", func(c *Config) *string { return &c.Gateway.UpstreamCA }),
	textKey("gateway.upstream_cert_file", "", func(c *Config) *string { return &c.Gateway.UpstreamCert }),
	textKey("gateway.upstream_key_file", "", func(c *Config) *string { return &c.Gateway.UpstreamKey }),
	textKey("gateway.proxy", "", func(c *Config) *string { return &c.Gateway.Proxy }),
	plainBool("gateway.mcp_edits", "", func(c *Config) *bool { return &c.Gateway.MCPEdits }),
	plainBool("gateway.recall", "", func(c *Config) *bool { return &c.Gateway.Recall }),
	plainBool("gateway.condense_tool", "", func(c *Config) *bool { return &c.Gateway.CondenseTool }),
}

// every returns the keys of earlier versions, those without effect first, and then all others.
var every = sync.OnceValue(func() []key {
	var gone []key
	for _, row := range old().Rows {
		name := row.Get("key")
		if !slices.ContainsFunc(oldKeys, func(k key) bool { return k.name == name }) {
			gone = append(gone, key{name: name, gone: true})
		}
	}
	return slices.Concat(gone, oldKeys, keys)
})

// find returns a key, also one of an earlier version; nil: there is none.
func find(name string) *key {
	i := slices.IndexFunc(every(), func(k key) bool { return k.name == name })
	if i < 0 {
		return nil
	}
	return &every()[i]
}

// successor returns the key in the place of one of an earlier version, and every other key itself.
func successor(name string) string {
	if row, ok := old().Find(name); ok && row.Get("new") != "" {
		return row.Get("new")
	}
	return name
}

// outdated returns a warning for each value with a key of an earlier version.
func outdated(values map[string]value) (warnings []string) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		key := name
		if strings.HasPrefix(name, experimentPrefix) { // of an arm
			key = name[strings.LastIndex(name, "/")+1:]
		}
		if w := outdatedKey(key); w != "" {
			warnings = append(warnings, values[name].origin+": "+w)
		}
	}
	return warnings
}

// outdatedKey returns what became of a key of an earlier version; "" for any other.
func outdatedKey(name string) string {
	row, ok := old().Find(name)
	if !ok {
		return ""
	}
	next, instead := row.Get("new"), row.Get("instead")
	switch {
	case next == "":
		return fmt.Sprintf("%s is out of date: %s", name, instead)
	case instead == "":
		return fmt.Sprintf("%s is now %s", name, next)
	}
	return fmt.Sprintf("%s is part of %s now: %s", name, next, instead)
}
