package sessions

import (
	"path/filepath"
	"runtime"
)

// Place is a folder in which recordings are looked for.
type Place struct {
	Agent string // the program whose folder it is; "": any, see each recording
	Root  string // absolute
	// Given says that the user named it: recordings of any kind and name are looked for.
	// In others only files that the program names so are.
	Given bool
	// Home is the folder that links must not lead out of; "": they are followed wherever they lead.
	Home string
}

// Environment is what [Places] depends on.
type Environment struct {
	OS   string              // as in runtime.GOOS; "": this one
	Home string              // the user's home folder
	Env  func(string) string // nil: nothing is set
}

func (e Environment) get(name, otherwise string) string {
	if e.Env != nil {
		if v := e.Env(name); v != "" {
			return v
		}
	}
	return otherwise
}

// editors are the folders of VS Code and its relatives.
var editors = []string{"Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf", "Antigravity", "Trae", "Kiro"}

// extensions keep tasks in an editor's global storage.
var extensions = []struct{ agent, folder string }{
	{"roo", "rooveterinaryinc.roo-cline"}, {"cline", "saoudrizwan.claude-dev"},
	{"kilo", "kilocode.kilo-code"}, {"zoo", "zoocodeorganization.zoo-code"},
}

// Places returns where agent programs keep their recordings, whether the folders exist
// or not. A variable of the environment by which a program moves its folder counts.
func Places(e Environment) []Place {
	if e.OS == "" {
		e.OS = runtime.GOOS
	}
	home := func(elem ...string) string { return filepath.Join(append([]string{e.Home}, elem...)...) }
	var out []Place
	add := func(agent, root string) { out = append(out, Place{Agent: agent, Root: root, Home: e.Home}) }

	add("claude-code", filepath.Join(e.get("CLAUDE_CONFIG_DIR", home(".claude")), "projects"))
	codex := e.get("CODEX_HOME", home(".codex"))
	add("codex", filepath.Join(codex, "sessions"))
	add("codex", filepath.Join(codex, "archived_sessions"))
	add("gemini", filepath.Join(e.get("GEMINI_CLI_HOME", e.Home), ".gemini", "tmp"))
	qwen := e.get("QWEN_HOME", home(".qwen"))
	add("qwen", filepath.Join(qwen, "projects"))
	add("qwen", filepath.Join(qwen, "tmp"))
	add("pi", filepath.Join(e.get("PI_CODING_AGENT_DIR", home(".pi", "agent")), "sessions"))
	add("opencode", filepath.Join(e.get("XDG_DATA_HOME", home(".local", "share")), "opencode"))
	add("openhands", home(".openhands", "conversations"))
	add("openhands", home(".openhands", "sessions"))
	add("openhands", home(".openhands-state", "sessions"))
	add("cline", e.get("CLINE_DIR", home(".cline")))
	for _, dir := range e.editorFolders() {
		for _, x := range extensions {
			add(x.agent, filepath.Join(dir, "globalStorage", x.folder))
		}
		add("copilot", filepath.Join(dir, "workspaceStorage"))
		add("copilot", filepath.Join(dir, "globalStorage", "emptyWindowChatSessions"))
	}
	return out
}

// editorFolders returns the folders in which editors keep what belongs to a user.
func (e Environment) editorFolders() []string {
	base := filepath.Join(e.get("XDG_CONFIG_HOME", filepath.Join(e.Home, ".config")))
	switch e.OS {
	case "darwin":
		base = filepath.Join(e.Home, "Library", "Application Support")
	case "windows":
		base = e.get("APPDATA", filepath.Join(e.Home, "AppData", "Roaming"))
	}
	var out []string
	for _, name := range editors {
		out = append(out, filepath.Join(base, name, "User"))
	}
	for _, name := range []string{".vscode-server", ".vscode-server-insiders", ".cursor-server", ".windsurf-server"} {
		out = append(out, filepath.Join(e.Home, name, "data", "User"))
	}
	return out
}
