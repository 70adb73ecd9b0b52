package main

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/precis-dev/precis/host"
)

// plugins packs the extensions of agents that install packages of npm.
func (r *release) plugins(context.Context, []target) error {
	for _, p := range []struct{ host, file, how string }{
		{"opencode", "precis.js", "main"},
		{"pi", "precis.ts", "pi"},
	} {
		files, err := pluginFiles(p.host, r.version)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(files, func(e entry) bool { return path.Base(e.name) == p.file })
		if at < 0 {
			return fmt.Errorf("the plugin for %s has no file %s", p.host, p.file)
		}
		files[at].name = "package/" + p.file
		about := map[string]any{"name": "precis-" + p.host, "version": r.version, "license": "Apache-2.0",
			"description": "precis for " + p.host + "; needs the program precis in the PATH", "type": "module",
			"files": []string{p.file}}
		if p.how == "pi" {
			about["pi"] = map[string][]string{"extensions": {"./" + p.file}}
		} else {
			about["main"] = "./" + p.file
		}
		if err := r.pack(about, files[at]); err != nil {
			return err
		}
	}
	return nil
}

// pluginFiles returns what precis install writes for an agent, with the program precis of the PATH.
// Names begin at the folder of precis's data, or of the agent's.
func pluginFiles(name, version string) ([]entry, error) {
	h, err := host.Named(name)
	if err != nil {
		return nil, err
	}
	home, err := os.MkdirTemp("", "precis-release-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(home)
	data := filepath.Join(home, "data")
	plan, err := h.Plan(host.Machine{Home: home, Data: data, Binary: "precis", Version: version})
	if err != nil {
		return nil, err
	}
	var out []entry
	for _, c := range plan.Changes {
		rel, err := filepath.Rel(home, c.Path)
		if err != nil {
			return nil, err
		}
		if rel = filepath.ToSlash(rel); strings.HasPrefix(rel, "data/installed/") {
			continue // what uninstall reads
		}
		out = append(out, entry{name: strings.TrimPrefix(rel, "data/plugins/"), mode: 0o644, data: c.After})
	}
	return out, nil
}
