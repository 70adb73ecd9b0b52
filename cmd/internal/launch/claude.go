package launch

import (
	"encoding/json"
	"path/filepath"
)

// claude is directed to the gateway by environment variables. Its settings files take precedence
// over these; if they name an address, it is overridden by further settings.
func claude(p *Plan) error {
	p.set("ANTHROPIC_BASE_URL", p.base())
	for _, name := range []string{"CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX",
		"CLAUDE_CODE_USE_FOUNDRY"} {
		if p.place.Env(name) != "" {
			p.warn(name + " is set: its requests do not pass the gateway")
		}
	}
	own := p.place.home("CLAUDE_CONFIG_DIR", ".claude")
	settings, path, err := readObject(own, "settings.json")
	if err != nil {
		return err
	}
	overrides := object{}
	if url := text(settings, "env", "ANTHROPIC_BASE_URL"); url != "" {
		p.anthropicAt(url, path)
		overrides["ANTHROPIC_BASE_URL"] = p.base()
	}
	if dir := filepath.Join(p.place.Dir, ".claude"); !sameFolder(dir, own) {
		if err := p.claudeFolder(dir, overrides); err != nil {
			return err
		}
	}
	if len(overrides) == 0 {
		return nil
	}
	if _, ok := p.Args.flag("--settings"); ok {
		p.warn("its settings name an address, and --settings is taken: its requests do not pass the gateway")
		return nil
	}
	data, err := json.Marshal(object{"env": overrides})
	if err != nil {
		return err
	}
	p.Args.setFlag("--settings", string(data))
	return nil
}

// claudeFolder checks the settings of the working directory: an address there is refused, or
// overridden if the user has set an upstream.
func (p *Plan) claudeFolder(dir string, overrides object) error {
	for _, name := range []string{"settings.local.json", "settings.json"} {
		settings, path, err := readFolderObject(dir, name)
		if err != nil {
			return err
		}
		if url := text(settings, "env", "ANTHROPIC_BASE_URL"); url != "" {
			if err := p.refuse(path, "env.ANTHROPIC_BASE_URL", url); err != nil {
				return err
			}
			overrides["ANTHROPIC_BASE_URL"] = p.base()
		}
		for _, name := range proxyNames {
			if url := text(settings, "env", name); url != "" {
				if err := p.refuse(path, "env."+name, url); err != nil {
					return err
				}
				for _, name := range noProxyNames {
					overrides[name] = p.withoutProxy()
				}
				overrides["ANTHROPIC_BASE_URL"] = p.base()
			}
		}
	}
	return nil
}

var proxyNames = []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"}
