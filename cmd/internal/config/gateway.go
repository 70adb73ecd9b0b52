package config

import (
	"cmp"
	"errors"
	"slices"
	"strings"
)

// Gateway configures precis gateway.
type Gateway struct {
	Listen    string   // address
	Upstream  string   // URL of all APIs; "": the APIs of Anthropic and OpenAI
	Anthropic string   // URL of the Messages API, takes precedence over Upstream
	OpenAI    string   // URL of the OpenAI APIs, takes precedence over Upstream
	Others    []string // NAME=URL, reached as /NAME/v1/…; neither of the two above
	Profiles  []string // NAME=FILE, configurations that a request can select

	Store     string // file, postgres:// URL, or "memory"; "": in the user's data folder
	Bodies    bool   // store message content
	Retention int    // days; 0: for ever

	KeysFile   string // hashed keys that clients must send; "": none
	SecretFile string // names owners; "": next to the store
	Public     bool   // accept other machines without keys
	Hosts      []string
	CertFile   string
	KeyFile    string

	UpstreamCA   string // certificates accepted from upstreams in addition to the system's
	UpstreamCert string // certificate sent to upstreams
	UpstreamKey  string
	Proxy        string // to upstreams; "": from the environment; Off: none

	Webhook string // URL that notes are posted to; "": none

	MemoryMB     int // for conversations
	Drain        int // seconds
	Native       bool
	Recall       bool
	CondenseTool bool
	MCPEdits     bool
	Bridge       string // see gateway.Bridge
}

// RequestsMB returns the memory for requests in progress, in MB: room for at least one of the
// largest size.
func (g Gateway) RequestsMB() int { return max(4*g.MemoryMB, 256) }

// Memory, as [Gateway.Store], keeps no data on disk; Off, as [Gateway.Proxy], disables the proxy.
const (
	Memory = "memory"
	Off    = "off"
)

var defaultGateway = Gateway{
	Listen: "127.0.0.1:8377", Bodies: true, MemoryMB: 256, Drain: 30,
}

var gatewayKeys = []key{
	textKey("gateway.listen", "address to listen on", func(c *Config) *string { return &c.Gateway.Listen }),
	textKey("gateway.upstream", "URL of the model API, for all dialects; empty: those of Anthropic and OpenAI; with # at its end no /v1 is added", func(c *Config) *string { return &c.Gateway.Upstream }),
	{name: "gateway.others", help: "further upstreams, NAME=URL, reached as /NAME/v1/…; anthropic=URL and openai=URL take the place of gateway.upstream for one API", ownDefault: true, list: true,
		get: func(c *Config) string {
			g := c.Gateway
			return strings.Join(slices.Concat(named("anthropic=", g.Anthropic), named("openai=", g.OpenAI),
				g.Others), ",")
		}, set: setOthers},
	listKey("gateway.profiles", "configurations that a request can name by X-Precis-Profile, NAME=FILE",
		func(c *Config) *[]string { return &c.Gateway.Profiles }),
	textKey("gateway.store", "where conversations are kept: a file, a postgres:// URL, or memory; empty: a file in the user's data folder", func(c *Config) *string { return &c.Gateway.Store }),
	plainBool("gateway.bodies", "keep what was said; off: only what it cost, and nothing can be searched or read again", func(c *Config) *bool { return &c.Gateway.Bodies }),
	plainCount("gateway.retention_days",
		"conversations are forgotten so many days after their last request; 0: never",
		func(c *Config) *int { return &c.Gateway.Retention }),
	{name: "gateway.keys_file", help: "file of hashed keys that clients must send; empty: none is asked for, and only this machine is served; off: none is asked for of others either", ownDefault: true,
		get: func(c *Config) string {
			return cmp.Or(c.Gateway.KeysFile, strings.Join(chosen(Off, c.Gateway.Public), ""))
		},
		set: func(c *Config, s string) error {
			if c.Gateway.KeysFile = s; s == Off {
				c.Gateway.KeysFile, c.Gateway.Public = "", true
			}
			return nil
		}},
	textKey("gateway.secret_file", "file of the secret that names owners; empty: beside the store",
		func(c *Config) *string { return &c.Gateway.SecretFile }),
	listKey("gateway.hosts", "names under which the gateway may be reached, beside localhost and IP addresses, and origins such as app://name that may use it", func(c *Config) *[]string { return &c.Gateway.Hosts }),
	filesKey("gateway.cert_files",
		"certificate to serve HTTPS with and its private key, in one file or two; empty: HTTP",
		func(c *Config) (cert, key *string) { return &c.Gateway.CertFile, &c.Gateway.KeyFile }),
	filesKey("gateway.upstream_cert_files",
		"certificate that the gateway shows to upstreams and its private key, in one file or two; empty: none",
		func(c *Config) (cert, key *string) { return &c.Gateway.UpstreamCert, &c.Gateway.UpstreamKey }),
	textKey("gateway.webhook", "URL that is told of condensations, overflows, limits of spending and errors; empty: none", func(c *Config) *string { return &c.Gateway.Webhook }),
	plainCount("gateway.memory_mb",
		"memory for conversations, in MB; requests under way may take four times as much, at least 256",
		func(c *Config) *int { return &c.Gateway.MemoryMB }),
	plainCount("gateway.drain", "seconds that requests under way may take at the end",
		func(c *Config) *int { return &c.Gateway.Drain }),
	plainBool("gateway.native", "leave context_management and compaction to the upstream",
		func(c *Config) *bool { return &c.Gateway.Native }),
	choiceKey("gateway.bridge", "when a client condenses by itself: missing gives back what its summary lacks, digest writes the summary without a model, too, off does nothing", []string{"missing", "digest", "off"},
		func(c *Config) *string { return &c.Gateway.Bridge }),
	{name: "gateway.tools", help: "what agents may do: recall, the model reads again what its view hides; condense, it asks for a condensation; edits, agents condense and pin at /precis/mcp", ownDefault: true, list: true,
		get: func(c *Config) string {
			g := c.Gateway
			return strings.Join(slices.Concat(chosen("recall", g.Recall), chosen("condense", g.CondenseTool),
				chosen("edits", g.MCPEdits)), ",")
		}, set: setTools},
}

// chosen returns a word as a list, or no word.
func chosen(word string, is bool) []string {
	if !is {
		return nil
	}
	return []string{word}
}

// named returns an item of [Gateway.Others] as a list; none without a URL.
func named(name, url string) []string { return chosen(name+url, url != "") }

func setOthers(c *Config, s string) error {
	g := &c.Gateway
	g.Others = nil
	for _, item := range items(s) {
		switch name, url, _ := strings.Cut(item, "="); name {
		case "anthropic":
			g.Anthropic = url
		case "openai":
			g.OpenAI = url
		default:
			g.Others = append(g.Others, item)
		}
	}
	return nil
}

func setTools(c *Config, s string) error {
	g := &c.Gateway
	tools := map[string]*bool{"recall": &g.Recall, "condense": &g.CondenseTool, "edits": &g.MCPEdits}
	for _, item := range items(s) {
		if err := oneOf(item, []string{"recall", "condense", "edits"}); err != nil {
			return err
		}
		*tools[item] = true
	}
	return nil
}

// filesKey is a key with the files of a certificate and its private key.
func filesKey(name, help string, at func(*Config) (cert, key *string)) key {
	return key{name: name, help: help, ownDefault: true, list: true,
		get: func(c *Config) string {
			cert, key := at(c)
			return strings.Join(slices.Compact(slices.Concat(named("", *cert), named("", *key))), ",")
		},
		set: func(c *Config, s string) error {
			files := append(items(s), "", "")
			cert, key := at(c)
			if *cert, *key = files[0], cmp.Or(files[1], files[0]); files[2] != "" {
				return errors.New("want one file or two")
			}
			return nil
		}}
}

func listKey(name, help string, at func(*Config) *[]string) key {
	return key{name: name, help: help, ownDefault: true, list: true,
		get: func(c *Config) string { return strings.Join(*at(c), ",") },
		set: func(c *Config, s string) error {
			*at(c) = items(s)
			return nil
		}}
}
