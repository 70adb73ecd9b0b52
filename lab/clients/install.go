package clients

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// pkg is an npm package at one version.
type pkg struct {
	name, version string
	after         string // a script of the package to run once; "": none
}

// The packages, at the versions that the setups were written for.
var (
	node         = pkg{name: "node", version: "22.22.0"}
	anthropicSDK = pkg{name: "@anthropic-ai/sdk", version: "1.12.0"}
	openaiSDK    = pkg{name: "openai", version: "7.57.0"}
	opencode     = pkg{name: "opencode-ai", version: "1.18.33"}
	pi           = pkg{name: "@earendil-works/pi-coding-agent", version: "1.6.0"}
	piOld        = pkg{name: "@mariozechner/pi-coding-agent", version: "0.73.1"} // without context edits
	qwen         = pkg{name: "@qwen-code/qwen-code", version: "0.24.4"}
	cline        = pkg{name: "cline", version: "3.0.65"}
	continueCLI  = pkg{name: "@continuedev/cli", version: "1.5.47"}
	codex        = pkg{name: "@openai/codex", version: "0.171.0"}
	geminiCLI    = pkg{name: "@google/gemini-cli", version: "0.61.0"}
	claudeCode   = pkg{name: "@anthropic-ai/claude-code", version: "2.1.332", after: "install.cjs"}
	// claudeCodeOld is the version that npm installs for an older Node; its plugins have no
	// modules.
	claudeCodeOld = pkg{name: "@anthropic-ai/claude-code", version: "2.1.197"}
)

// dir is the install folder of a package; modules is the folder with its npm packages.
func (p pkg) dir(cache string) string {
	name := strings.ReplaceAll(strings.TrimPrefix(p.name, "@"), "/", "-")
	return filepath.Join(cache, name+"-"+p.version)
}

func (p pkg) modules(cache string) string { return filepath.Join(p.dir(cache), "node_modules") }

// bin is the path of a program in the package.
func (p pkg) bin(cache, name string) string {
	return filepath.Join(p.modules(cache), ".bin", name)
}

// nodeDir is the directory of the node program.
func nodeDir(cache string) string {
	return filepath.Join(node.modules(cache), "node", "bin")
}

// installed marks a complete installation.
const installed = ".installed"

// CacheDir is the default folder for packages.
func CacheDir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "precis-clients"), nil
}

// Install fetches the packages of the setups into a folder, with npm as it is configured. It skips
// installed packages. It calls say with the name of each package before fetching it.
func Install(ctx context.Context, cache string, setUps []SetUp, say func(string)) error {
	need := []pkg{node}
	for _, s := range setUps {
		need = append(need, s.pkg)
	}
	for _, p := range need {
		if _, err := os.Stat(filepath.Join(p.dir(cache), installed)); err == nil {
			continue
		}
		say(fmt.Sprintf("installing %s %s", p.name, p.version))
		if err := p.install(ctx, cache); err != nil {
			return fmt.Errorf("installing %s %s: %w", p.name, p.version, err)
		}
	}
	return nil
}

func (p pkg) install(ctx context.Context, cache string) error {
	dir := p.dir(cache)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	// Without a package.json, npm would install into a parent folder.
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"private":true}`),
		0o644); err != nil {
		return err
	}
	npm := []string{"npm", "install", "--no-audit", "--no-fund", "--no-progress", "--loglevel=error",
		"--ignore-scripts=false", p.name + "@" + p.version}
	if err := runIn(ctx, dir, npm, os.Environ()); err != nil {
		return err
	}
	if p.after != "" {
		home := filepath.Join(p.modules(cache), filepath.FromSlash(p.name))
		env := append(os.Environ(), "PATH="+nodeDir(cache)+string(filepath.ListSeparator)+os.Getenv("PATH"))
		if err := runIn(ctx, home, []string{filepath.Join(nodeDir(cache), "node"), p.after},
			env); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, installed), nil, 0o644)
}

// runIn runs a program in a folder. An error includes the end of its output.
func runIn(ctx context.Context, dir string, args, env []string) error {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, env
	alone(cmd)
	out, err := cmd.CombinedOutput()
	if text := strings.TrimSpace(string(out)); err != nil && text != "" {
		return errors.Join(err, errors.New(text[max(0, len(text)-500):]))
	}
	return err
}
