package launch

import (
	"maps"
	"path/filepath"
	"slices"
)

// cline gets a changed copy of its providers file. Its data stays in place, because recorded data
// refers to files in it. It runs the session itself, because a running hub has already read the
// providers file.
func cline(p *Plan) error {
	if _, ok := p.Args.flag("--compaction"); !ok {
		p.Args.insert("--compaction", "off")
	}
	data, isolated := p.clineData()
	path := p.place.Env(clineProvidersAt)
	if path == "" || isolated {
		path = filepath.Join(data, "settings", "providers.json")
	}
	file, found, err := readObject(filepath.Dir(path), filepath.Base(path))
	if err != nil {
		return err
	}
	if found == "" {
		p.warn("it has no " + path + " yet: its requests do not pass the gateway; run cline auth first")
		return nil
	}
	p.clineProviders(objectAt(file, "providers"), path)
	copied, err := p.writeJSON(file, "providers.json")
	if err != nil {
		return err
	}
	p.set(clineProvidersAt, copied)
	p.set("CLINE_SESSION_BACKEND_MODE", "local")
	if isolated { // same layout as its own, except for the providers
		p.Args.removeFlag("--data-dir")
		p.set("CLINE_SANDBOX", "0")
		p.set("CLINE_DATA_DIR", data)
		for name, in := range clineFolders {
			p.set(name, filepath.Join(data, in))
		}
	}
	return nil
}

// clineProvidersAt is the variable with the path of cline's providers file.
const clineProvidersAt = "CLINE_PROVIDER_SETTINGS_PATH"

// clineFolders are the parts of an isolated folder of cline, by the variables that name them.
var clineFolders = map[string]string{
	"CLINE_DB_DATA_DIR": "db", "CLINE_SESSION_DATA_DIR": "sessions", "CLINE_TEAM_DATA_DIR": "teams",
	"CLINE_HOOKS_LOG_PATH": filepath.Join("hooks", "hooks.jsonl"),
}

// clineData returns the folder of cline's data; isolated: it contains everything, whatever other
// variables say.
func (p *Plan) clineData() (dir string, isolated bool) {
	at := p.place.Dir
	if cwd, ok := p.Args.flag("--cwd"); ok {
		at = absolute(at, cwd)
	}
	if dir, ok := p.Args.flag("--data-dir"); ok {
		return absolute(at, dir), true
	}
	if dir := p.place.Env("CLINE_SANDBOX_DATA_DIR"); dir != "" && p.place.Env("CLINE_SANDBOX") == "1" {
		return absolute(at, dir), true
	}
	if dir := p.place.Env("CLINE_DATA_DIR"); dir != "" {
		return dir, false
	}
	if dir, ok := p.Args.flag("--config"); ok {
		return filepath.Join(dir, "data"), false
	}
	return filepath.Join(p.place.home("CLINE_DIR", ".cline"), "data"), false
}

// absolute returns a path made absolute from a folder.
func absolute(from, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(from, path)
}

func (p *Plan) clineProviders(providers object, path string) {
	for _, name := range slices.Sorted(maps.Keys(providers)) {
		settings := objectAt(providers, name, "settings")
		if settings == nil {
			continue
		}
		own := text(settings, "baseUrl")
		switch {
		case own != "":
			settings["baseUrl"] = p.addUpstream(name, own, path, name == "anthropic")
		case name == "anthropic":
			settings["baseUrl"] = p.base()
		case name == "openai-native", name == "openai":
			settings["baseUrl"] = p.v1()
		default:
			p.warn("its provider " + name +
				" has no base URL of its own: its requests do not pass the gateway")
		}
	}
}
