package launch

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// codex is configured by arguments only.
func codex(p *Plan) error {
	dir := p.place.home("CODEX_HOME", ".codex")
	auth, _, err := readObject(dir, "auth.json")
	if err != nil {
		return err
	}
	if key, _ := auth["OPENAI_API_KEY"].(string); key == "" && objectAt(auth, "tokens") != nil &&
		p.OpenAI == "" && p.place.Env("OPENAI_API_KEY") == "" {
		p.OpenAI = "https://chatgpt.com/backend-api/codex#" // requests of a subscription go there
	}
	file := filepath.Join(dir, "config.toml")
	config, _ := os.ReadFile(file) // if it is missing, the defaults apply
	for name, value := range map[string]string{"model_context_window": ample,
		"model_auto_compact_token_limit": nearly} {
		if !p.Args.configured(name) {
			p.Args.insert("-c", name+"="+value)
		}
	}
	provider := p.Args.codexOption("model_provider")
	if provider == "" {
		provider = tomlText(config, "", "model_provider")
	}
	if provider == "" || provider == "openai" {
		if own := tomlText(config, "", "openai_base_url"); own != "" {
			p.openAIAt(markUnversioned(own), file)
		}
		p.Args.insert("-c", fmt.Sprintf("openai_base_url=%q", p.v1()))
		return nil
	}
	key := "model_providers." + provider
	own, from := p.Args.codexOption(key+".base_url"), "-c"
	if own == "" {
		own, from = tomlText(config, key, "base_url"), file
	}
	if own == "" {
		p.warn("the address of its provider " + provider +
			" is not known: its requests do not pass the gateway")
		return nil
	}
	p.Args.insert("-c", fmt.Sprintf("%s.base_url=%q", key, p.addUpstream(provider, own, from, false)))
	return nil
}

// tomlText returns a string of a TOML file by its table, "" for the top level, and key. It only
// supports tables and strings on lines of their own.
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
