package clients

import (
	"embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

//go:embed agents
var agents embed.FS

// script returns the command for one of our own agents, written with an SDK.
func script(name, mode string) func(*place) ([]string, []string, error) {
	return func(p *place) ([]string, []string, error) {
		text, err := agents.ReadFile("agents/" + name)
		if err != nil {
			return nil, nil, err
		}
		path, err := p.write(string(text), p.config, name)
		if err != nil {
			return nil, nil, err
		}
		sdk := anthropicSDK
		base := p.base
		if name != "anthropic.mjs" {
			sdk, base = openaiSDK, p.v1()
		}
		// Node looks for modules next to the script.
		if err := os.Symlink(sdk.modules(p.cache), filepath.Join(p.config, "node_modules")); err != nil {
			return nil, nil, err
		}
		return []string{"node", path, task},
			[]string{"BASE_URL=" + base, "MODE=" + mode, "MODEL=" + claudeModel}, nil
	}
}

// object is a JSON object.
type object = map[string]any

func (p *place) writeJSON(v any, path ...string) (string, error) {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return "", err
	}
	return p.write(string(text), path...)
}

func opencodeCommand(dialect string) func(*place) ([]string, []string, error) {
	return func(p *place) ([]string, []string, error) {
		limit := object{"context": json.Number(ample), "output": 8000}
		provider := func(sdk, base, model string) object {
			return object{
				"npm": sdk, "name": "test", "options": object{"baseURL": base, "apiKey": openaiKey},
				"models": object{model: object{"name": model, "tool_call": true, "reasoning": true,
					"limit": limit}},
			}
		}
		of := map[string]object{
			"chat":      provider("@ai-sdk/openai-compatible", p.v1(), "test-1"),
			"anthropic": provider("@ai-sdk/anthropic", p.v1(), claudeModel),
			"responses": provider("@ai-sdk/openai", p.v1(), "gpt-5"),
		}
		model := map[string]string{"chat": "test-1", "anthropic": claudeModel, "responses": "gpt-5"}[dialect]
		path, err := p.writeJSON(object{
			"autoupdate": false, "share": "disabled", "provider": object{"test": of[dialect]},
		}, p.config, "opencode.json")
		env := []string{"OPENCODE_CONFIG=" + path, "OPENCODE_DISABLE_MODELS_FETCH=1",
			"OPENCODE_DISABLE_AUTOUPDATE=1"}
		return []string{p.bin(opencode, "opencode"), "run", "--auto", "-m", "test/" + model, task}, env, err
	}
}

func piCommand(k pkg, dialect string) func(*place) ([]string, []string, error) {
	return func(p *place) ([]string, []string, error) {
		api := map[string]string{"chat": "openai-completions", "anthropic": "anthropic-messages",
			"responses": "openai-responses"}[dialect]
		base, model := p.v1(), "test-1"
		if dialect == "anthropic" {
			base, model = p.base, claudeModel
		}
		_, err := p.writeJSON(object{"providers": object{"test": object{
			"baseUrl": base, "api": api, "apiKey": openaiKey,
			"models": []object{{
				"id": model, "name": "test", "reasoning": true, "input": []string{"text"},
				"contextWindow": json.Number(ample), "maxTokens": 8000,
				"cost": object{"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
			}},
		}}}, p.config, "models.json")
		args := []string{p.bin(k, "pi"), "-p", "--provider", "test", "--model", model, "--thinking", "medium",
			task}
		return args, []string{"PI_CODING_AGENT_DIR=" + p.config, "PI_OFFLINE=1"}, err
	}
}

func qwenCommand(dialect, claude string) func(*place) ([]string, []string, error) {
	return func(p *place) ([]string, []string, error) {
		settings := object{"model": object{"generationConfig": object{"contextWindowSize": json.Number(ample)}}}
		_, err := p.writeJSON(settings, p.home, ".qwen", "settings.json")
		auth := map[string]string{"chat": "openai", "anthropic": "anthropic",
			"responses": "openai-responses"}[dialect]
		args := []string{p.bin(qwen, "qwen"), "--auth-type", auth, "-y"}
		if dialect == "anthropic" {
			// For an unknown model it would request more thinking than output.
			return append(args, "-m", claude, task),
				[]string{"ANTHROPIC_BASE_URL=" + p.base, "ANTHROPIC_API_KEY=" + anthropicKey}, err
		}
		return append(args, "-m", "test-1", "--openai-base-url", p.v1(), "--openai-api-key", openaiKey, task),
			nil, err
	}
}

func clineCommand(p *place) ([]string, []string, error) {
	_, err := p.writeJSON(object{
		"version": 1, "lastUsedProvider": "openai-compatible", "modes": object{},
		"providers": object{"openai-compatible": object{
			"settings": object{"provider": "openai-compatible", "apiKey": openaiKey, "model": "test-1",
				"baseUrl": p.v1()},
			"updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual",
		}},
	}, p.config, "settings", "providers.json")
	args := []string{p.bin(cline, "cline"), "--data-dir", p.config, "-P", "openai-compatible", "-m", "test-1",
		"--compaction", "off", "--auto-approve", "true", task}
	return args, nil, err
}

func continueCommand(p *place) ([]string, []string, error) {
	path, err := p.writeJSON(object{ // JSON is YAML
		"name": "test", "version": "1.0.0", "schema": "v1",
		"models": []object{{
			"name": "test-1", "provider": "openai", "model": "test-1", "apiBase": p.v1(), "apiKey": openaiKey,
			"roles": []string{"chat"}, "capabilities": []string{"tool_use"},
			"defaultCompletionOptions": object{"contextLength": json.Number(ample), "maxTokens": 8000},
		}},
	}, p.config, "config.yaml")
	return []string{p.bin(continueCLI, "cn"), "-p", "--auto", "--config", path, task},
		[]string{"CONTINUE_TELEMETRY_ENABLED=0"}, err
}

func codexCommand(p *place) ([]string, []string, error) {
	provider := fmt.Sprintf(`model_providers.test={name="test",base_url=%q,env_key="OPENAI_API_KEY",wire_api="responses"}`, p.v1())
	args := []string{
		p.bin(codex, "codex"), "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox",
		"-m", "gpt-5.1-codex",
		"-c", "model_provider=test", "-c", provider,
		"-c", "model_context_window=" + ample, "-c", "model_auto_compact_token_limit=" + ample, task,
	}
	return args, []string{"CODEX_HOME=" + p.config, "OPENAI_API_KEY=" + openaiKey}, nil
}

func claudeCommand(of pkg, model string) func(*place) ([]string, []string, error) {
	return func(p *place) ([]string, []string, error) {
		args := []string{p.bin(of, "claude"), "-p", task, "--model", model, "--allowedTools", "Read", "Bash"}
		env := []string{"ANTHROPIC_BASE_URL=" + p.base, "ANTHROPIC_API_KEY=" + anthropicKey,
			"DISABLE_TELEMETRY=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}
		return args, env, nil
	}
}

func writeFile(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}
