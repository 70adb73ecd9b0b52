package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/licensecheck"
)

const (
	noticesFile    = "THIRD-PARTY-NOTICES.txt"
	componentsFile = "precis.cdx.json"
)

// allowed are the licences, by their SPDX names, that a program under the Apache License may be
// linked with and passed on without conditions on its own source.
var allowed = []string{"Apache-2.0", "MIT", "BSD-2-Clause", "BSD-3-Clause", "ISC", "Unlicense", "CC0-1.0", "Zlib", "MPL-2.0"}

// component is a Go module that is linked.
type component struct {
	module   debug.Module
	licences []string // SPDX names
	notices  []entry  // its licence files
}

// licenceFile are the names of files that a copy has to carry along.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([.-].*)?$`)

// components writes the list of what is linked (CycloneDX) and the licences of all of it. It fails
// for a module without a licence, or with one that is not allowed.
func (r *release) components(ctx context.Context, chosen []target) error {
	linked, err := r.linked(chosen)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "list", "-m", "-json", "all")
	cmd.Dir = r.root
	text, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("list modules: %w", err)
	}
	dirs := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(text)); d.More(); {
		var m struct{ Path, Dir string }
		if err := d.Decode(&m); err != nil {
			return err
		}
		dirs[m.Path] = m.Dir
	}
	goRoot, err := output(ctx, r.root, "go", "env", "GOROOT")
	if err != nil {
		return err
	}
	dirs[standard] = goRoot
	var all []component
	for _, m := range linked {
		c, err := licensed(m, dirs[m.Path])
		if err != nil {
			return err
		}
		all = append(all, c)
	}
	if err := r.notices(all); err != nil {
		return err
	}
	return r.bill(all)
}

// standard names Go's standard library among the modules.
const standard = "std"

// linked returns the modules in the programs, sorted.
func (r *release) linked(chosen []target) ([]debug.Module, error) {
	var out []debug.Module
	for _, t := range chosen {
		info, err := buildinfo.ReadFile(r.program(t))
		if err != nil {
			return nil, err
		}
		for _, m := range append(info.Deps, &debug.Module{Path: standard, Version: info.GoVersion}) {
			if !slices.ContainsFunc(out, func(o debug.Module) bool { return o.Path == m.Path }) {
				out = append(out, *m)
			}
		}
	}
	slices.SortFunc(out, func(a, b debug.Module) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

// licensed finds the licences of a module in its folder.
func licensed(m debug.Module, dir string) (component, error) {
	c := component{module: m}
	files, err := os.ReadDir(dir)
	if err != nil {
		return c, fmt.Errorf("%s: %w", m.Path, err)
	}
	for _, f := range files {
		if f.IsDir() || !licenceFile.MatchString(f.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return c, err
		}
		c.notices = append(c.notices, entry{name: f.Name(), data: text})
		for _, match := range licensecheck.Scan(text).Match {
			if !slices.Contains(c.licences, match.ID) && slices.Contains(allowed, match.ID) {
				c.licences = append(c.licences, match.ID)
			}
		}
	}
	if len(c.licences) == 0 {
		return c, fmt.Errorf("%s %s: none of its files grants one of the licences %s", m.Path, m.Version, strings.Join(allowed, ", "))
	}
	return c, nil
}

func (r *release) notices(all []component) error {
	var b bytes.Buffer
	b.WriteString("precis links these modules of others. Each has the licence that follows its name.\n")
	data, err := filepath.Glob(filepath.Join(r.root, "*", "NOTICE"))
	if err != nil {
		return err
	}
	for _, path := range data {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "\n== data in %s\n\n%s\n", filepath.Base(filepath.Dir(path)), bytes.TrimSpace(text))
	}
	for _, c := range all {
		fmt.Fprintf(&b, "\n== %s %s (%s)\n", c.module.Path, c.module.Version, strings.Join(c.licences, ", "))
		for _, n := range c.notices {
			fmt.Fprintf(&b, "\n%s\n", bytes.TrimSpace(n.data))
		}
	}
	return os.WriteFile(filepath.Join(r.out, noticesFile), b.Bytes(), 0o644)
}

// bill writes the software bill of materials.
func (r *release) bill(all []component) (err error) {
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Timestamp: r.when.Format(time.RFC3339), Component: &cdx.Component{
		Type: cdx.ComponentTypeApplication, Name: "precis", Version: r.version, BOMRef: "precis"}}
	var list []cdx.Component
	for _, c := range all {
		licences := cdx.Licenses{}
		for _, id := range c.licences {
			licences = append(licences, cdx.LicenseChoice{License: &cdx.License{ID: id}})
		}
		one := cdx.Component{Type: cdx.ComponentTypeLibrary, Name: c.module.Path, Version: c.module.Version,
			BOMRef: "pkg:golang/" + c.module.Path + "@" + c.module.Version, Licenses: &licences}
		one.PackageURL = one.BOMRef
		list = append(list, one)
	}
	bom.Components = &list
	f, err := os.Create(filepath.Join(r.out, componentsFile))
	if err != nil {
		return err
	}
	if err := cdx.NewBOMEncoder(f, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom); err != nil {
		return err
	}
	return f.Close()
}
