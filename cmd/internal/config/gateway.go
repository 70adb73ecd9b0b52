package config

import (
	"strings"
)

// Gateway configures precis gateway.
type Gateway struct {
	Listen    string   // address
	Upstream  string   // URL of all APIs; "": the APIs of Anthropic and OpenAI
	Anthropic string   // URL of the Messages API, takes precedence over Upstream
	OpenAI    string   // URL of the OpenAI APIs, takes precedence over Upstream
	Others    []string // NAME=URL, reached as /NAME/v1/…
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

	OTLP    string // URL of an OpenTelemetry collector; "": no traces
	Webhook string // URL that notes are posted to; "": none

	MemoryMB     int
	MaxBodyMB    int
	RequestsMB   int
	MaxRequests  int
	KeepAlive    int // seconds
	Drain        int // seconds
	DrainDelay   int // seconds between not being ready and closing
	Native       bool
	Recall       bool
	CondenseTool bool
	Bridge       string // see gateway.Bridge
	MCPEdits     bool
	Probe        bool // ask servers for the windows of models
}

// Memory, as [Gateway.Store], keeps no data on disk; Off, as [Gateway.Proxy], disables the proxy.
const (
	Memory = "memory"
	Off    = "off"
)

var defaultGateway = Gateway{
	Listen: "127.0.0.1:8377", Bodies: true, Probe: true, MemoryMB: 256, MaxBodyMB: 64, RequestsMB: 1024, MaxRequests: 512, KeepAlive: 5, Drain: 30,
}

var gatewayKeys = []key{
	textKey("gateway.listen", "address to listen on", func(c *Config) *string { return &c.Gateway.Listen }),
	textKey("gateway.upstream", "URL of the model API, for all dialects; empty: those of Anthropic and OpenAI; with # at its end no /v1 is added", func(c *Config) *string { return &c.Gateway.Upstream }),
	textKey("gateway.anthropic", "URL of the Anthropic Messages API; empty: gateway.upstream", func(c *Config) *string { return &c.Gateway.Anthropic }),
	textKey("gateway.openai", "URL of the OpenAI APIs; empty: gateway.upstream", func(c *Config) *string { return &c.Gateway.OpenAI }),
	listKey("gateway.others", "further upstreams, NAME=URL, reached as /NAME/v1/…", func(c *Config) *[]string { return &c.Gateway.Others }),
	listKey("gateway.profiles", "configurations that a request can name by X-Precis-Profile, NAME=FILE", func(c *Config) *[]string { return &c.Gateway.Profiles }),
	textKey("gateway.store", "where conversations are kept: a file, a postgres:// URL, or memory; empty: a file in the user's data folder", func(c *Config) *string { return &c.Gateway.Store }),
	plainBool("gateway.bodies", "keep what was said; off: only what it cost, and nothing can be searched or read again", func(c *Config) *bool { return &c.Gateway.Bodies }),
	plainCount("gateway.retention_days", "conversations are forgotten so many days after their last request; 0: never", func(c *Config) *int { return &c.Gateway.Retention }),
	textKey("gateway.keys_file", "file of hashed keys that clients must send; empty: none is asked for", func(c *Config) *string { return &c.Gateway.KeysFile }),
	textKey("gateway.secret_file", "file of the secret that names owners; empty: beside the store", func(c *Config) *string { return &c.Gateway.SecretFile }),
	plainBool("gateway.public", "listen on an address that others reach, without keys", func(c *Config) *bool { return &c.Gateway.Public }),
	listKey("gateway.hosts", "names under which the gateway may be reached, beside localhost and IP addresses, and origins such as app://name that may use it", func(c *Config) *[]string { return &c.Gateway.Hosts }),
	textKey("gateway.cert_file", "certificate to serve HTTPS with; empty: HTTP", func(c *Config) *string { return &c.Gateway.CertFile }),
	textKey("gateway.key_file", "its private key", func(c *Config) *string { return &c.Gateway.KeyFile }),
	textKey("gateway.upstream_ca_file", "certificates that upstreams may show, beside those the system trusts", func(c *Config) *string { return &c.Gateway.UpstreamCA }),
	textKey("gateway.upstream_cert_file", "certificate that the gateway shows to upstreams; empty: none", func(c *Config) *string { return &c.Gateway.UpstreamCert }),
	textKey("gateway.upstream_key_file", "its private key", func(c *Config) *string { return &c.Gateway.UpstreamKey }),
	textKey("gateway.proxy", "URL of a proxy to upstreams; empty: as HTTPS_PROXY and NO_PROXY say; off: none", func(c *Config) *string { return &c.Gateway.Proxy }),
	textKey("gateway.otlp_endpoint", "URL of an OpenTelemetry collector for traces; empty: that of OTEL_EXPORTER_OTLP_ENDPOINT, or none", func(c *Config) *string { return &c.Gateway.OTLP }),
	textKey("gateway.webhook", "URL that is told of condensations, overflows, limits of spending and errors; empty: none", func(c *Config) *string { return &c.Gateway.Webhook }),
	plainCount("gateway.memory_mb", "memory for conversations, in MB", func(c *Config) *int { return &c.Gateway.MemoryMB }),
	plainCount("gateway.requests_mb", "memory for requests under way, in MB", func(c *Config) *int { return &c.Gateway.RequestsMB }),
	plainCount("gateway.max_body_mb", "largest request, in MB", func(c *Config) *int { return &c.Gateway.MaxBodyMB }),
	plainCount("gateway.max_requests", "requests at the same time", func(c *Config) *int { return &c.Gateway.MaxRequests }),
	plainCount("gateway.keep_alive", "seconds after which a waiting stream gets a sign of life", func(c *Config) *int { return &c.Gateway.KeepAlive }),
	plainCount("gateway.drain", "seconds that requests under way may take at the end", func(c *Config) *int { return &c.Gateway.Drain }),
	plainCount("gateway.drain_delay", "seconds between no longer being ready and closing the address, for load balancers", func(c *Config) *int { return &c.Gateway.DrainDelay }),
	plainBool("gateway.probe", "ask servers for the windows of models, with the client's key", func(c *Config) *bool { return &c.Gateway.Probe }),
	plainBool("gateway.native", "leave context_management and compaction to the upstream", func(c *Config) *bool { return &c.Gateway.Native }),
	plainBool("gateway.mcp_edits", "let agents condense and pin through the MCP server at /precis/mcp; off: they only read", func(c *Config) *bool { return &c.Gateway.MCPEdits }),
	choiceKey("gateway.bridge", "when a client condenses by itself: missing gives back what its summary lacks, digest writes the summary without a model, too, off does nothing", []string{"missing", "digest", "off"},
		func(c *Config) *string { return &c.Gateway.Bridge }),
	plainBool("gateway.recall", "offer the model a tool to read again what its view hides, and answer its calls", func(c *Config) *bool { return &c.Gateway.Recall }),
	plainBool("gateway.condense_tool", "offer the model a tool to ask for a condensation when that suits its work, and answer its calls", func(c *Config) *bool { return &c.Gateway.CondenseTool }),
}

func listKey(name, help string, at func(*Config) *[]string) key {
	return key{name: name, help: help, plain: true, list: true,
		get: func(c *Config) string { return strings.Join(*at(c), ",") },
		set: func(c *Config, s string) error {
			*at(c) = nil
			for item := range strings.SplitSeq(s, ",") {
				if item = strings.TrimSpace(item); item != "" {
					*at(c) = append(*at(c), item)
				}
			}
			return nil
		}}
}
