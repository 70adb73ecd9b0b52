package sessions

import (
	_ "embed"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/precis-dev/precis/internal/table"
)

// Place is a folder that is searched for recordings.
type Place struct {
	Agent string // the program that records there; "": any, determined for each recording
	Root  string // absolute
	// Given says that the user named the folder: files of any kind and name are tried. In other
	// places only files named by the program's pattern are.
	Given bool
	// Home is the folder that links must not leave; "": links are followed everywhere.
	Home string

	files     []string // patterns for the ends of paths of recordings
	enterOnly []string // DEPTH:NAME of folders to enter, see places.txt
}

// Environment is the input of [Places].
type Environment struct {
	OS   string              // as in runtime.GOOS; "": this one
	Home string              // the user's home folder
	Env  func(string) string // nil: no variable is set
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
var editors = []string{"Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf", "Antigravity", "Trae",
	"Kiro"}

//go:embed places.txt
var placesText string

var placesTable = table.Lazy("places.txt", placesText, "place", "agent", "moved", "files", "only")

// Places returns the folders where agent programs keep recordings, existing or not. It respects
// environment variables that move a program's folder.
func Places(e Environment) []Place {
	if e.OS == "" {
		e.OS = runtime.GOOS
	}
	var out []Place
	for _, row := range placesTable().Rows {
		for _, root := range e.roots(row) {
			out = append(out, placeOf(row, root, e.Home))
		}
	}
	return out
}

func placeOf(row table.Row, root, home string) Place {
	return Place{Agent: row.Get("agent"), Root: root, Home: home, files: row.Words("files"),
		enterOnly: row.Words("only")}
}

// roots returns the folders of a table row.
func (e Environment) roots(row table.Row) []string {
	place := row.Get("place")
	if name, ok := strings.CutPrefix(place, "$"); ok {
		if path := e.get(name, ""); filepath.IsAbs(path) {
			return []string{path}
		}
		return nil
	}
	if rest, ok := strings.CutPrefix(place, "EDITOR/"); ok {
		var out []string
		for _, dir := range e.editorFolders() {
			out = append(out, filepath.Join(dir, filepath.FromSlash(rest)))
		}
		return out
	}
	if name, from, ok := strings.Cut(row.Get("moved"), "="); ok {
		if to := e.get(name, ""); to != "" {
			return []string{filepath.Join(to, filepath.FromSlash(strings.TrimPrefix(place, from)))}
		}
	}
	return []string{filepath.Join(e.Home, filepath.FromSlash(strings.TrimPrefix(place, "~")))}
}

// editorFolders returns the user data folders of editors.
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
	for _, name := range []string{".vscode-server", ".vscode-server-insiders", ".cursor-server",
		".windsurf-server"} {
		out = append(out, filepath.Join(e.Home, name, "data", "User"))
	}
	return out
}

// leadsTo reports whether a folder at a depth of a place may contain recordings.
func (p Place) leadsTo(name string, depth int) bool {
	at := strconv.Itoa(depth) + ":"
	there := func(o string) bool { return strings.HasPrefix(o, at) }
	return p.Given || !slices.ContainsFunc(p.enterOnly, there) || slices.Contains(p.enterOnly, at+name)
}
