package launch

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
)

// opencode configures opencode through an environment variable, which it merges with its
// configuration files.
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
	for _, f := range append(files, file{inline, "OPENCODE_CONFIG_CONTENT"}) {
		configured := objectAt(f.object, "provider")
		for _, name := range slices.Sorted(maps.Keys(configured)) {
			if own := text(configured, name, "options", "baseURL"); own != "" {
				providers[name] = object{"options": object{"baseURL": p.addUpstream(name, own, f.path,
					false)}}
			}
		}
	}
	if err := p.opencodeFolders(providers); err != nil {
		return err
	}
	data, err := json.Marshal(merged(inline, object{"provider": providers}))
	if err != nil {
		return err
	}
	p.set("OPENCODE_CONFIG_CONTENT", string(data))
	return nil
}

// file is the content of a file.
type file struct {
	object object
	path   string
}

var opencodeNames = []string{"opencode.json", "opencode.jsonc"}

// opencodeFiles reads the user's own configuration files, lowest precedence first.
func (p *Plan) opencodeFiles() ([]file, error) {
	in := func(dir string) []string {
		return []string{filepath.Join(dir, opencodeNames[0]), filepath.Join(dir, opencodeNames[1])}
	}
	paths := in(p.place.xdg("opencode"))
	if own := p.place.Env("OPENCODE_CONFIG"); own != "" {
		paths = append(paths, own)
	}
	paths = append(paths, in(filepath.Join(p.place.Home, ".opencode"))...)
	var out []file
	for _, path := range paths {
		o, found, err := readObject(filepath.Dir(path), filepath.Base(path))
		if err != nil {
			return nil, err
		}
		if found != "" {
			out = append(out, file{o, path})
		}
	}
	return out, nil
}

// opencodeFolders checks the files of the working directory and its parents: a provider's address
// there is refused, or overridden if the user has set an upstream.
func (p *Plan) opencodeFolders(providers object) error {
	own := []string{p.place.xdg("opencode"), filepath.Join(p.place.Home, ".opencode")}
	for dir := p.place.Dir; dir != ""; dir = filepath.Dir(dir) {
		for _, at := range []string{dir, filepath.Join(dir, ".opencode")} {
			if slices.ContainsFunc(own, func(o string) bool { return sameFolder(o, at) }) {
				continue
			}
			for _, name := range opencodeNames {
				o, path, err := readFolderObject(at, name)
				if err != nil {
					return err
				}
				if err := p.opencodeAddresses(path, objectAt(o, "provider"), providers); err != nil {
					return err
				}
			}
		}
		if filepath.Dir(dir) == dir {
			break
		}
	}
	return nil
}

func (p *Plan) opencodeAddresses(path string, configured, providers object) error {
	for _, name := range slices.Sorted(maps.Keys(configured)) {
		url := address(configured[name])
		if url == "" {
			continue
		}
		if err := p.refuse(path, "provider."+name, url); err != nil {
			return err
		}
		providers[name] = object{"options": object{"baseURL": p.v1()}}
	}
	return nil
}

// address returns an address anywhere in the configuration of one of opencode's providers or of its
// models; "" if it has none.
func address(v any) string {
	o, _ := v.(object)
	for _, key := range slices.Sorted(maps.Keys(o)) {
		if s, ok := o[key].(string); ok && s != "" &&
			(key == "baseURL" || key == "api" || key == "endpoint") {
			return s
		}
		if url := address(o[key]); url != "" {
			return url
		}
	}
	return ""
}

// merged returns a with b merged over it.
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
