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

// claude is pointed at the gateway by its environment. Its settings win over
// that; where they name an address, others win over them.
func claude(p *Plan) error {
	p.set("ANTHROPIC_BASE_URL", p.base())
	for _, name := range []string{"CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"} {
		if p.place.Env(name) != "" {
			p.warn(name + " is set: its requests do not pass the gateway")
		}
	}
	for _, dir := range []string{p.home("CLAUDE_CONFIG_DIR", ".claude"), filepath.Join(p.place.Dir, ".claude")} {
		settings, path, err := readObject(dir, "settings.local.json", "settings.json")
		if err != nil {
			return err
		}
		own := text(settings, "env", "ANTHROPIC_BASE_URL")
		if own == "" {
			continue
		}
		p.Anthropic = own
		if _, ok := p.flag("--settings"); ok {
			p.warn(path + " names an address, and --settings is taken: its requests do not pass the gateway")
			continue
		}
		p.setFlag("--settings", fmt.Sprintf(`{"env":{"ANTHROPIC_BASE_URL":%q}}`, p.base()))
	}
	return nil
}

// opencode merges what it is told with what its files say.
func opencode(p *Plan) error {
	providers := object{
		"anthropic": object{"options": object{"baseURL": p.v1()}},
		"openai":    object{"options": object{"baseURL": p.v1()}},
	}
	inline := object{}
	if own := p.place.Env("OPENCODE_CONFIG_CONTENT"); own != "" {
		if err := json.Unmarshal([]byte(plainJSON(own)), &inline); err != nil {
			return fmt.Errorf("OPENCODE_CONFIG_CONTENT: %w", err)
		}
	}
	files, err := p.opencodeFiles()
	if err != nil {
		return err
	}
	for _, o := range append(files, inline) {
		configured := within(o, "provider")
		for _, name := range slices.Sorted(maps.Keys(configured)) {
			if own := text(configured, name, "options", "baseURL"); own != "" {
				providers[name] = object{"options": object{"baseURL": p.other(name, own, false)}}
			}
		}
	}
	data, err := json.Marshal(merged(inline, object{"provider": providers}))
	if err != nil {
		return err
	}
	p.set("OPENCODE_CONFIG_CONTENT", string(data))
	return nil
}

// opencodeFiles reads its configuration files, the weakest first.
func (p *Plan) opencodeFiles() ([]object, error) {
	type place struct{ dir, name string }
	places := []place{{p.xdg("opencode"), "opencode"}}
	if own := p.place.Env("OPENCODE_CONFIG"); own != "" {
		places = append(places, place{filepath.Dir(own), filepath.Base(own)})
	}
	var up []place
	for dir := p.place.Dir; dir != "" && filepath.Dir(dir) != dir; dir = filepath.Dir(dir) {
		up = append(up, place{filepath.Join(dir, ".opencode"), "opencode"}, place{dir, "opencode"})
	}
	slices.Reverse(up)
	var out []object
	for _, at := range append(places, up...) {
		o, _, err := readObject(at.dir, at.name, at.name+".json", at.name+".jsonc")
		if err != nil && !isDir(filepath.Join(at.dir, at.name)) {
			return nil, err
		}
		out = append(out, o)
	}
	return out, nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// merged returns a with what b has beside and over it.
func merged(a, b object) object {
	out := maps.Clone(a)
	for key, v := range b {
		x, isObject := out[key].(object)
		y, both := v.(object)
		if isObject && both {
			v = merged(x, y)
		}
		out[key] = v
	}
	return out
}

// pi loads an extension that gives providers their addresses: those of its
// models.json, and the two that everybody has.
func pi(p *Plan) error {
	if len(p.Args) > 1 && slices.Contains([]string{"install", "remove", "update", "list", "config"}, p.Args[1]) {
		return nil // it talks to no model
	}
	urls := map[string]string{"anthropic": p.base(), "openai": p.v1()}
	models, _, err := readObject(p.home("PI_CODING_AGENT_DIR", ".pi", "agent"), "models.json")
	if err != nil {
		return err
	}
	for name, v := range within(models, "providers") {
		provider, _ := v.(object)
		if own := text(provider, "baseUrl"); own != "" {
			urls[name] = p.other(name, own, text(provider, "api") == "anthropic-messages" || name == "anthropic")
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
	p.insert("-e", path)
	return nil
}

// cline keeps its providers beside its conversations: all of that is linked, but
// for the providers.
func cline(p *Plan) error {
	if _, ok := p.flag("--compaction"); !ok {
		p.insert("--compaction", "off")
	}
	data, ok := p.flag("--data-dir")
	if !ok {
		data = p.home("CLINE_DATA_DIR")
		if p.place.Env("CLINE_DATA_DIR") == "" {
			data = filepath.Join(p.home("CLINE_DIR", ".cline"), "data")
		}
	}
	file, path, err := readObject(filepath.Join(data, "settings"), "providers.json")
	if err != nil {
		return err
	}
	if path == "" {
		p.warn("it has no " + filepath.Join(data, "settings", "providers.json") + " yet: its requests do not pass the gateway; run cline auth first")
		return nil
	}
	p.clineProviders(within(file, "providers"))
	// What it would make itself must not be made in a folder that goes away.
	for _, name := range []string{"sessions", "db"} {
		if err := os.MkdirAll(filepath.Join(data, name), 0o700); err != nil {
			return err
		}
	}
	to, err := p.mirror(data, "cline", "settings")
	if err != nil {
		return err
	}
	if _, err := p.mirror(filepath.Join(data, "settings"), filepath.Join("cline", "settings"), "providers.json"); err != nil {
		return err
	}
	if _, err := p.writeJSON(file, "cline", "settings", "providers.json"); err != nil {
		return err
	}
	p.setFlag("--data-dir", to)
	return nil
}

func (p *Plan) clineProviders(providers object) {
	for _, name := range slices.Sorted(maps.Keys(providers)) {
		settings := within(providers, name, "settings")
		if settings == nil {
			continue
		}
		own := text(settings, "baseUrl")
		switch {
		case own != "":
			settings["baseUrl"] = p.other(name, own, name == "anthropic")
		case name == "anthropic":
			settings["baseUrl"] = p.base()
		case name == "openai-native", name == "openai":
			settings["baseUrl"] = p.v1()
		default:
			p.warn("its provider " + name + " has no base URL of its own: its requests do not pass the gateway")
		}
	}
}

// continueCLI reads one file, which is copied with other addresses.
func continueCLI(p *Plan) error {
	path, ok := p.flag("--config")
	if !ok {
		path = filepath.Join(p.home("CONTINUE_GLOBAL_DIR", ".continue"), "config.yaml")
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
			p.continueModel(m)
		}
	}
	copied, err := p.writeJSON(file, "config.yaml") // JSON is YAML
	if err != nil {
		return err
	}
	p.setFlag("--config", copied)
	return nil
}

func (p *Plan) continueModel(m object) {
	provider, own := text(m, "provider"), text(m, "apiBase")
	switch {
	case own != "":
		m["apiBase"] = p.other(provider+"-"+text(m, "name"), own, false)
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

// crush knows variables for the two common providers; those of crush.json are
// changed in a copy.
func crush(p *Plan) error {
	for name, to := range map[string]*string{"ANTHROPIC_API_ENDPOINT": &p.Anthropic, "OPENAI_API_ENDPOINT": &p.OpenAI} {
		if own := p.place.Env(name); own != "" {
			*to = own
			if to == &p.OpenAI {
				*to = asIs(own)
			}
		}
	}
	p.set("ANTHROPIC_API_ENDPOINT", p.base())
	p.set("OPENAI_API_ENDPOINT", p.v1())
	dir := p.place.Env("CRUSH_GLOBAL_CONFIG")
	if dir == "" {
		dir = p.xdg("crush")
	}
	file, _, err := readObject(dir, "crush.json")
	if err != nil {
		return err
	}
	changed := false
	providers := within(file, "providers")
	for _, name := range slices.Sorted(maps.Keys(providers)) {
		provider := within(providers, name)
		if own := text(provider, "base_url"); own != "" {
			provider["base_url"] = p.other(name, own, text(provider, "type") == "anthropic" || name == "anthropic")
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
