package outline

import (
	"path"
	"strings"
)

// extensions maps file extensions to languages.
var extensions = map[string]string{
	"go": "go", "py": "python", "pyi": "python", "pyw": "python",
	"ts": "typescript", "mts": "typescript", "cts": "typescript", "tsx": "tsx",
	"js": "javascript", "mjs": "javascript", "cjs": "javascript", "jsx": "javascript",
	"rs": "rust", "java": "java", "c": "c", "h": "c",
	"cc": "cpp", "cpp": "cpp", "cxx": "cpp", "c++": "cpp", "hh": "cpp", "hpp": "cpp", "hxx": "cpp",
	"ipp": "cpp", "inl": "cpp", "cu": "cpp", "ino": "cpp",
	"cs": "csharp", "rb": "ruby", "rake": "ruby", "gemspec": "ruby", "ru": "ruby",
	"php": "php", "phtml": "php", "sh": "bash", "bash": "bash", "zsh": "bash", "ksh": "bash", "bats": "bash",
	"kt": "kotlin", "kts": "kotlin", "scala": "scala", "sc": "scala", "sbt": "scala", "lua": "lua",
	"md": "markdown", "markdown": "markdown", "mdx": "markdown",

	// These have no parser here.
	"swift": "swift", "dart": "dart", "groovy": "groovy", "gradle": "groovy", "sol": "solidity",
	"ex": "elixir", "exs": "elixir", "cr": "crystal", "zig": "zig", "vue": "vue", "svelte": "svelte",
	"astro": "astro",
	"m":     "objc", "mm": "objc", "pl": "perl", "pm": "perl", "r": "r", "jl": "julia", "nim": "nim",
	"fs":  "fsharp",
	"ps1": "powershell", "psm1": "powershell", "proto": "protobuf", "thrift": "thrift", "graphql": "graphql",
	"gql": "graphql",
	"elm": "elm", "hs": "haskell", "ml": "ocaml", "mli": "ocaml", "vb": "vb", "v": "v", "d": "d",
	"gd": "gdscript", "hx": "haxe",
}

// names maps complete file names to languages.
var names = map[string]string{
	"Rakefile": "ruby", "Gemfile": "ruby", "Vagrantfile": "ruby", "Podfile": "ruby", "Brewfile": "ruby",
	"Fastfile":    "ruby",
	"Jenkinsfile": "groovy", "PKGBUILD": "bash", "SConstruct": "python", "wscript": "python",
	".bashrc": "bash", ".bash_profile": "bash", ".profile": "bash", ".zshrc": "bash",
}

// interpreters maps the program in a script's "#!" line to its language.
var interpreters = map[string]string{
	"sh": "bash", "bash": "bash", "dash": "bash", "zsh": "bash", "ksh": "bash", "ash": "bash", "bats": "bash",
	"python": "python", "pypy": "python", "node": "javascript", "nodejs": "javascript", "bun": "typescript",
	"deno": "typescript", "tsx": "typescript", "ts-node": "typescript",
	"ruby": "ruby", "php": "php", "lua": "lua", "luajit": "lua", "perl": "perl", "elixir": "elixir",
	"Rscript": "r", "julia": "julia", "scala": "scala", "kotlin": "kotlin", "groovy": "groovy",
}

// Language returns the language of a file in lower case ("go", "csharp", "markdown"); "" for files
// without definitions. The name decides, then the "#!" line of the content. A header ".h" is C++
// when its first lines are. Path may use either separator.
func Language(filePath, content string) string {
	base := path.Base(strings.ReplaceAll(filePath, `\`, "/"))
	if l := names[base]; l != "" {
		return l
	}
	if dot := strings.LastIndexByte(base, '.'); dot > 0 {
		ext := strings.ToLower(base[dot+1:])
		if ext == "h" && looksLikeCPP(content) {
			return "cpp"
		}
		return extensions[ext]
	}
	return shebang(content)
}

func shebang(content string) string {
	line, ok := strings.CutPrefix(content, "#!")
	if !ok {
		return ""
	}
	line, _, _ = strings.Cut(line[:min(len(line), 200)], "\n")
	for i, word := range strings.Fields(line) {
		name := path.Base(word)
		if i > 0 && strings.HasPrefix(word, "-") || name == "env" {
			continue
		}
		if l := interpreters[name]; l != "" {
			return l
		}
		return interpreters[strings.TrimRight(name, ".0123456789")]
	}
	return ""
}

// looksLikeCPP reports whether a line begins with a keyword that C does not have.
func looksLikeCPP(content string) bool {
	content = content[:min(len(content), 64<<10)]
	for line := range strings.Lines(content) {
		line = strings.TrimSpace(line)
		for _, head := range []string{"class ", "namespace ", "template <", "template<", "using ", "public:",
			"private:", "protected:", "constexpr "} {
			if strings.HasPrefix(line, head) {
				return true
			}
		}
	}
	return false
}
