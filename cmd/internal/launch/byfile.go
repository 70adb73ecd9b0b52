package launch

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// pi loads an extension that sets the addresses of providers: the ones in its models.json, and two
// that are built in.
func pi(p *Plan) error {
	if len(p.Args) > 1 && slices.Contains([]string{"install", "remove", "update", "list", "config"},
		p.Args[1]) {
		return nil // it calls no model
	}
	urls := map[string]string{"anthropic": p.base(), "openai": p.v1()}
	models, file, err := readObject(p.place.home("PI_CODING_AGENT_DIR", ".pi", "agent"), "models.json")
	if err != nil {
		return err
	}
	for name, v := range objectAt(models, "providers") {
		provider, _ := v.(object)
		if own := text(provider, "baseUrl"); own != "" {
			urls[name] = p.addUpstream(name, own, file,
				text(provider, "api") == "anthropic-messages" || name == "anthropic")
		}
	}
	var code strings.Builder
	code.WriteString("export default function (pi) {\n")
	for _, name := range slices.Sorted(maps.Keys(urls)) {
		fmt.Fprintf(&code, "  pi.registerProvider(%q, { baseUrl: %q });\n", name, urls[name])
	}
	code.WriteString("}\n")
	path, err := p.write([]byte(code.String()), "precis.ts")
	if err != nil {
		return err
	}
	p.Args.insert("-e", path)
	return nil
}

// continueCLI reads one file, and gets a copy with other addresses.
func continueCLI(p *Plan) error {
	path, ok := p.Args.flag("--config")
	if !ok {
		path = filepath.Join(p.place.home("CONTINUE_GLOBAL_DIR", ".continue"), "config.yaml")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		p.warn("there is no file " + path + ": its requests do not pass the gateway")
		return nil
	}
	var file object
	if err := yaml.Unmarshal(data, &file); err != nil {
		return fmt.Errorf("%s: it is no YAML", path)
	}
	models, _ := file["models"].([]any)
	for _, v := range models {
		if m, ok := v.(object); ok {
			p.continueModel(m, path)
		}
	}
	copied, err := p.writeJSON(file, "config.yaml") // JSON is YAML
	if err != nil {
		return err
	}
	p.Args.setFlag("--config", copied)
	return nil
}

func (p *Plan) continueModel(m object, path string) {
	provider, own := text(m, "provider"), text(m, "apiBase")
	switch {
	case own != "":
		m["apiBase"] = p.addUpstream(provider+"-"+text(m, "name"), own, path, false)
	case provider == "anthropic", provider == "openai":
		m["apiBase"] = p.v1()
	default:
		p.warn("its model " + text(m, "name") + " has no apiBase: its requests do not pass the gateway")
		return
	}
	limits, ok := m["defaultCompletionOptions"].(object)
	if !ok {
		limits = object{}
		m["defaultCompletionOptions"] = limits
	}
	limits["contextLength"] = json.Number(ample)
}

// crush supports variables for the two common providers; addresses in crush.json are changed in a
// copy.
func crush(p *Plan) error {
	p.anthropicAt(p.place.Env("ANTHROPIC_API_ENDPOINT"), "ANTHROPIC_API_ENDPOINT")
	p.openAIAt(markUnversioned(p.place.Env("OPENAI_API_ENDPOINT")), "OPENAI_API_ENDPOINT")
	p.set("ANTHROPIC_API_ENDPOINT", p.base())
	p.set("OPENAI_API_ENDPOINT", p.v1())
	dir := p.place.Env("CRUSH_GLOBAL_CONFIG")
	if dir == "" {
		dir = p.place.xdg("crush")
	}
	file, path, err := readObject(dir, "crush.json")
	if err != nil {
		return err
	}
	changed := false
	providers := objectAt(file, "providers")
	for _, name := range slices.Sorted(maps.Keys(providers)) {
		provider := objectAt(providers, name)
		if own := text(provider, "base_url"); own != "" {
			provider["base_url"] = p.addUpstream(name, own, path,
				text(provider, "type") == "anthropic" || name == "anthropic")
			changed = true
		}
	}
	if !changed {
		return nil
	}
	to, err := p.mirror(dir, "crush", "crush.json")
	if err != nil {
		return err
	}
	p.set("CRUSH_GLOBAL_CONFIG", to)
	_, err = p.writeJSON(file, "crush", "crush.json")
	return err
}
