package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
)

// The names that Node has for our platforms.
var (
	nodeOS   = map[string]string{"linux": "linux", "darwin": "darwin", "windows": "win32"}
	nodeArch = map[string]string{"amd64": "x64", "arm64": "arm64"}
)

// npm writes a package with the program for each platform, and the package precis, which starts the
// one that npm chose. Archives are as npm pack makes them.
func (r *release) npm(_ context.Context, chosen []target) error {
	optional := map[string]string{}
	for _, t := range chosen {
		name := "@precis-dev/cli-" + nodeOS[t.os] + "-" + nodeArch[t.arch]
		optional[name] = r.version
		program, err := os.ReadFile(r.program(t))
		if err != nil {
			return err
		}
		about := map[string]any{"name": name, "version": r.version, "license": "Apache-2.0",
			"description": "The program precis for " + t.os + " on " + t.arch + "; install the package precis.",
			"os":          []string{nodeOS[t.os]}, "cpu": []string{nodeArch[t.arch]}, "files": []string{"bin"},
			"preferUnplugged": true}
		if err := r.pack(about, entry{name: "package/bin/" + filepath.Base(r.program(t)), mode: 0o755, data: program}); err != nil {
			return err
		}
	}
	about := map[string]any{}
	data, err := os.ReadFile(filepath.Join(r.root, "packaging", "npm", "package.json"))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, &about); err != nil {
		return fmt.Errorf("packaging/npm/package.json: %w", err)
	}
	about["version"], about["optionalDependencies"] = r.version, optional
	start, err := os.ReadFile(filepath.Join(r.root, "packaging", "npm", "precis.js"))
	if err != nil {
		return err
	}
	return r.pack(about, entry{name: "package/precis.js", mode: 0o755, data: start})
}

// pack writes a package of npm with the files that every one has.
func (r *release) pack(about map[string]any, files ...entry) error {
	text, err := json.MarshalIndent(about, "", "  ")
	if err != nil {
		return err
	}
	files = append(files, entry{name: "package/package.json", mode: 0o644, data: append(text, '\n')})
	for from, to := range map[string]string{filepath.Join(r.root, "LICENSE"): "LICENSE",
		filepath.Join(r.root, "README.md"): "README.md", filepath.Join(r.out, noticesFile): noticesFile} {
		data, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		files = append(files, entry{name: "package/" + to, mode: 0o644, data: data})
	}
	slices.SortFunc(files, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	data, err := compressed(files, r.when)
	if err != nil {
		return err
	}
	name := strings.NewReplacer("@", "", "/", "-").Replace(about["name"].(string))
	return os.WriteFile(filepath.Join(r.out, name+"-"+r.version+".tgz"), data, 0o644)
}

// manifests fills in the formula of Homebrew, the manifest of Scoop and the version of install.sh.
func (r *release) manifests(context.Context, []target) error {
	sums := map[string]string{}
	for _, s := range r.sums {
		sums[s.file] = s.hex
	}
	for _, name := range []string{"precis.rb", "precis.json", "install.sh"} {
		from := filepath.Join(r.root, "packaging", name)
		text, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		t, err := template.New(name).Delims("@{", "}@").Option("missingkey=error").Funcs(template.FuncMap{
			"version": func() string { return r.version },
			"home":    func() string { return r.home },
			"archive": func(system, arch string) string { return r.archive(target{system, arch}) },
			"sum":     func(system, arch string) string { return sums[r.archive(target{system, arch})] },
		}).Parse(string(text))
		if err != nil {
			return fmt.Errorf("%s: %w", from, err)
		}
		f, err := os.Create(filepath.Join(r.out, name))
		if err != nil {
			return err
		}
		if err := t.Execute(f, nil); err != nil {
			return fmt.Errorf("%s: %w", from, err)
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}
