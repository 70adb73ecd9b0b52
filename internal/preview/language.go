package preview

import "strings"

// style is the way to read a language's lines if no outline is available.
type style uint8

const (
	styleSource style = iota // definitions begin with a keyword
	styleKeys                // top-level keys and sections
	styleMarkup              // tags
	styleSheet               // selectors
)

// language is the language of a file, by its name.
type language struct {
	name  string // "" if it is not source code
	kind  Kind
	style style
}

// languageOf returns the language by a file's name. ok is false for an unknown one.
func languageOf(path string) (l language, ok bool) {
	base := path[strings.LastIndexAny(path, `/\`)+1:]
	switch strings.ToLower(base) {
	case "makefile", "gnumakefile", "justfile":
		return language{"Makefile", Code, styleKeys}, true
	case "dockerfile", "containerfile":
		return language{"Dockerfile", Code, styleSource}, true
	case "cmakelists.txt":
		return language{"CMake", Code, styleSource}, true
	case "go.mod", "go.sum", ".gitignore", ".dockerignore", ".env":
		return language{"configuration", Code, styleKeys}, true
	case "readme", "license", "changelog":
		return language{kind: Prose}, true
	}
	dot := strings.LastIndexByte(base, '.')
	if dot < 0 || len(base)-dot > 12 {
		return language{}, false
	}
	return languageOfExt(strings.ToLower(base[dot+1:]))
}

func languageOfExt(ext string) (language, bool) {
	if name := sourceName(ext); name != "" {
		return language{name, Code, styleSource}, true
	}
	switch ext {
	case "yaml", "yml":
		return language{"YAML", Code, styleKeys}, true
	case "toml":
		return language{"TOML", Code, styleKeys}, true
	case "ini", "cfg", "conf", "properties", "env", "mod", "gitignore", "editorconfig":
		return language{"configuration", Code, styleKeys}, true
	case "html", "htm":
		return language{"HTML", Code, styleMarkup}, true
	case "xml", "svg", "xsd", "plist", "csproj":
		return language{"XML", Code, styleMarkup}, true
	case "css", "scss", "sass", "less":
		return language{"CSS", Code, styleSheet}, true
	case "json", "jsonl", "ndjson", "ipynb", "geojson", "jsonc", "json5":
		return language{"", JSON, styleSource}, true
	case "md", "mdx", "markdown", "rst", "txt", "adoc", "tex", "org":
		return language{kind: Prose}, true
	case "diff", "patch":
		return language{kind: Diff}, true
	case "log", "out":
		return language{kind: Log}, true
	case "csv", "tsv":
		return language{kind: Table}, true
	}
	return language{}, false
}

func sourceName(ext string) string {
	switch ext {
	case "go":
		return "Go"
	case "py", "pyi", "pyw":
		return "Python"
	case "js", "jsx", "mjs", "cjs":
		return "JavaScript"
	case "ts", "tsx", "mts", "cts":
		return "TypeScript"
	case "java":
		return "Java"
	case "kt", "kts":
		return "Kotlin"
	case "c", "h":
		return "C"
	case "cc", "cpp", "cxx", "hpp", "hh", "hxx":
		return "C++"
	case "cs":
		return "C#"
	case "rs":
		return "Rust"
	case "rb":
		return "Ruby"
	case "php":
		return "PHP"
	case "swift":
		return "Swift"
	case "scala", "sc":
		return "Scala"
	case "lua":
		return "Lua"
	}
	return rarerSourceName(ext)
}

func rarerSourceName(ext string) string {
	switch ext {
	case "sh", "bash", "zsh", "fish":
		return "shell"
	case "ps1", "psm1", "bat", "cmd":
		return "script"
	case "sql":
		return "SQL"
	case "proto":
		return "protobuf"
	case "graphql", "gql":
		return "GraphQL"
	case "vue", "svelte", "astro":
		return "component"
	case "ex", "exs":
		return "Elixir"
	case "hs":
		return "Haskell"
	case "dart":
		return "Dart"
	case "zig":
		return "Zig"
	case "tf", "hcl":
		return "Terraform"
	case "r", "jl", "pl", "pm", "clj", "erl", "ml", "fs", "nim", "sol", "m", "mm", "vb", "asm", "s", "cmake",
		"gradle", "groovy":
		return "source"
	}
	return ""
}
