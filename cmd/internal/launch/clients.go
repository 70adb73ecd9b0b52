package launch

// ample is the context window, in tokens, configured in clients that would otherwise shorten
// conversations by their own estimate; nearly is a little less.
const (
	ample  = "10000000"
	nearly = "9000000"
)

// Clients returns the table of the clients, the generic one last.
func Clients() []Client {
	return []Client{
		{Name: "claude", Commands: []string{"claude"}, Told: "ANTHROPIC_BASE_URL",
			HowTo: "ANTHROPIC_BASE_URL=%s claude", prepare: claude},
		{Name: "codex", Commands: []string{"codex"},
			Told: "-c openai_base_url, and a context window so large that it never compacts",
			HowTo: `codex -c 'openai_base_url="%s/v1"' -c model_context_window=` + ample +
				` -c model_auto_compact_token_limit=` + nearly, prepare: codex},
		{Name: "opencode", Commands: []string{"opencode"},
			Told:  "OPENCODE_CONFIG_CONTENT with the base URLs alone",
			HowTo: `OPENCODE_CONFIG_CONTENT='{"provider":{"anthropic":{"options":{"baseURL":"%[1]s/v1"}},"openai":{"options":{"baseURL":"%[1]s/v1"}}}}' opencode`, prepare: opencode},
		{Name: "pi", Commands: []string{"pi"}, Told: "an extension that gives providers their base URL",
			HowTo: `pi, with {"providers":{"anthropic":{"baseUrl":"%s"}}} in models.json`, prepare: pi},
		{Name: "qwen", Commands: []string{"qwen"}, Told: "--openai-base-url and ANTHROPIC_BASE_URL",
			HowTo: "ANTHROPIC_BASE_URL=%[1]s qwen --openai-base-url %[1]s/v1", prepare: qwen},
		{Name: "cline", Commands: []string{"cline"},
			Told:  "CLINE_PROVIDER_SETTINGS_PATH, a copy of providers.json with changed base URLs, and --compaction off",
			HowTo: "cline auth -p openai-compatible -b %s/v1 …, then cline --compaction off", prepare: cline},
		{Name: "continue", Commands: []string{"cn", "continue"},
			Told:    "a copy of config.yaml with changed apiBase and contextLength",
			HowTo:   "cn --config FILE, with apiBase: %s/v1 and contextLength: " + ample + " for each model",
			prepare: continueCLI},
		{Name: "crush", Commands: []string{"crush"},
			Told:  "ANTHROPIC_API_ENDPOINT, OPENAI_API_ENDPOINT, and a copy of crush.json where it has base URLs",
			HowTo: "ANTHROPIC_API_ENDPOINT=%[1]s OPENAI_API_ENDPOINT=%[1]s/v1 crush", prepare: crush},
		{Name: "aider", Commands: []string{"aider"}, Told: "OPENAI_API_BASE and ANTHROPIC_API_BASE",
			HowTo: "ANTHROPIC_API_BASE=%[1]s OPENAI_API_BASE=%[1]s/v1 aider", prepare: aider},
		{Name: "goose", Commands: []string{"goose"},
			Told:    "OPENAI_HOST and ANTHROPIC_HOST, and no compaction of its own",
			HowTo:   "ANTHROPIC_HOST=%[1]s OPENAI_HOST=%[1]s GOOSE_AUTO_COMPACT_THRESHOLD=0 goose session",
			prepare: goose},
		{Name: "generic", Told: "ANTHROPIC_BASE_URL, OPENAI_BASE_URL and OPENAI_API_BASE",
			HowTo: "ANTHROPIC_BASE_URL=%[1]s OPENAI_BASE_URL=%[1]s/v1 your-agent", prepare: generic},
	}
}

func generic(p *Plan) error {
	p.set("ANTHROPIC_BASE_URL", p.base())
	p.set("OPENAI_BASE_URL", p.v1())
	p.set("OPENAI_API_BASE", p.v1())
	return nil
}

func aider(p *Plan) error {
	p.set("ANTHROPIC_API_BASE", p.base())
	p.set("AIDER_OPENAI_API_BASE", p.v1()) // before its own configuration file
	if own, ok := p.Args.flag("--openai-api-base"); ok {
		p.openAIAt(markUnversioned(own), "--openai-api-base")
		p.Args.setFlag("--openai-api-base", p.v1())
	}
	return generic(p)
}

func goose(p *Plan) error {
	p.anthropicAt(p.place.Env("ANTHROPIC_HOST"), "ANTHROPIC_HOST")
	p.openAIAt(p.place.Env("OPENAI_HOST"), "OPENAI_HOST") // it adds v1/chat/completions
	p.set("ANTHROPIC_HOST", p.base())
	p.set("OPENAI_HOST", p.base())
	if p.place.Env("GOOSE_AUTO_COMPACT_THRESHOLD") == "" {
		p.set("GOOSE_AUTO_COMPACT_THRESHOLD", "0")
	}
	return nil
}

func qwen(p *Plan) error {
	p.set("ANTHROPIC_BASE_URL", p.base())
	p.set("OPENAI_BASE_URL", p.v1())
	settings, path, err := readObject(p.place.home("QWEN_HOME", ".qwen"), "settings.json")
	if err != nil {
		return err
	}
	if own, ok := p.Args.flag("--openai-base-url"); ok {
		p.openAIAt(markUnversioned(own), "--openai-base-url")
	} else if own := text(settings, "security", "auth", "baseUrl"); own != "" && p.OpenAI == "" {
		p.openAIAt(markUnversioned(own), path)
	}
	p.Args.setFlag("--openai-base-url", p.v1())
	return nil
}
