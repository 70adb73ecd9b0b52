package launch

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// codex takes all it needs as arguments.
func codex(p *Plan) error {
	dir := p.home("CODEX_HOME", ".codex")
	auth, _, err := readObject(dir, "auth.json")
	if err != nil {
		return err
	}
	if key, _ := auth["OPENAI_API_KEY"].(string); key == "" && within(auth, "tokens") != nil && p.OpenAI == "" && p.place.Env("OPENAI_API_KEY") == "" {
		p.OpenAI = "https://chatgpt.com/backend-api/codex#" // a subscription's requests go there
	}
	config, _ := os.ReadFile(filepath.Join(dir, "config.toml")) // without it there are the defaults
	for name, value := range map[string]string{"model_context_window": ample, "model_auto_compact_token_limit": nearly} {
		if !p.configured(name) {
			p.insert("-c", name+"="+value)
		}
	}
	provider := p.codexOption("model_provider")
	if provider == "" {
		provider = tomlText(config, "", "model_provider")
	}
	if provider == "" || provider == "openai" {
		if own := tomlText(config, "", "openai_base_url"); own != "" {
			p.OpenAI = asIs(own)
		}
		p.insert("-c", fmt.Sprintf("openai_base_url=%q", p.v1()))
		return nil
	}
	key := "model_providers." + provider
	own := p.codexOption(key + ".base_url")
	if own == "" {
		own = tomlText(config, key, "base_url")
	}
	if own == "" {
		p.warn("the address of its provider " + provider + " is not known: its requests do not pass the gateway")
		return nil
	}
	p.Args = append(p.Args[:1:1], append([]string{"-c", fmt.Sprintf("%s.base_url=%q", key, p.other(provider, own, false))}, p.Args[1:]...)...)
	return nil
}

// configured reports whether the arguments set an option of Codex.
func (p *Plan) configured(name string) bool { return p.codexOption(name) != "" }

// codexOption returns the value that the arguments give an option of Codex.
func (p *Plan) codexOption(name string) string {
	for i, a := range p.Args[1:] {
		v := ""
		switch {
		case (a == "-c" || a == "--config") && i+2 < len(p.Args):
			v = p.Args[i+2]
		case strings.HasPrefix(a, "--config="):
			v = strings.TrimPrefix(a, "--config=")
		}
		if key, value, ok := strings.Cut(v, "="); ok && strings.TrimSpace(key) == name {
			return strings.Trim(strings.TrimSpace(value), `"'`)
		}
	}
	return ""
}

// tomlText returns a string of a TOML file by its table, "" for the top, and
// key. It knows as much of TOML as such files use: tables and strings on lines
// of their own.
func tomlText(data []byte, table, key string) string {
	at := ""
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(line, "[") {
			name, _, _ := strings.Cut(line, "#")
			at = strings.ReplaceAll(strings.Trim(strings.TrimSpace(name), "[]"), `"`, "")
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if !ok || at != table || strings.Trim(strings.TrimSpace(name), `"`) != key {
			continue
		}
		value = strings.TrimSpace(value)
		if value == "" || value[0] != '"' && value[0] != '\'' {
			return ""
		}
		text, _, _ := strings.Cut(value[1:], value[:1])
		return text
	}
	return ""
}
