package config_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/config"
	"github.com/precis-dev/precis/preset"
)

// written is a configuration in a file.
func written(t interface {
	TempDir() string
	Fatal(...any)
}, yaml string) string {
	path := filepath.Join(t.TempDir(), "own.yaml")
	if err := os.WriteFile(path, []byte(yaml), 0o640); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestSaveKeepsTheRestOfTheFile(t *testing.T) {
	path := written(t, "# ours\r\nthreshold: 60 # agreed\r\nkeep: {messages: 7}\r\nprofiles:\r\n  m-1: 50\r\n")
	link := filepath.Join(t.TempDir(), "link.yaml")
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	c, err := config.Load(config.Sources{Path: link})
	if err != nil {
		t.Fatal(err)
	}
	now, err := c.Save(t.Context(), config.Change{Key: "threshold", Value: "55.5"}, config.Change{Key: "keep.messages", Value: "9"}, config.Change{Key: "profiles.gpt-4.1", Value: "-1"},
		config.Change{Key: "profiles.m-1", Remove: true}, config.Change{Key: "rungs", Value: "prune, truncate,clip"}, config.Change{Key: "summarizer.model", Value: "a: b"})
	if err != nil {
		t.Fatal(err)
	}
	want := "# ours\r\nthreshold: 55.5 # agreed\r\nkeep: {messages: 9}\r\nprofiles:\r\n  gpt-4.1: -1\r\nrungs: [prune, truncate, clip]\r\nsummarizer:\r\n  model: \"a: b\"\r\n"
	if got := read(t, path); got != want {
		t.Errorf("the file is\n%q\nwant\n%q", got, want)
	}
	if s := now.Settings; s.Percent != 55.5 || s.KeepMessages != 9 || s.Profiles["gpt-4.1"] != -1 || len(s.Profiles) != 1 || !slices.Equal(s.Rungs, []string{"prune", "truncate", "clip"}) || now.Summarizer.Model != "a: b" {
		t.Errorf("%+v", s)
	}
	info, err := os.Lstat(link)
	if err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info.Mode(), err)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o640 {
		t.Errorf("the mode is %v", info.Mode())
	}
	if files, _ := os.ReadDir(filepath.Dir(path)); len(files) != 1 {
		t.Errorf("%d files are left", len(files))
	}
	if !now.Unchanged() || c.Unchanged() {
		t.Error("it is not known which configuration is in the file")
	}
	if _, err := now.Save(t.Context(), config.Change{Key: "warn", Value: "50"}); err != nil {
		t.Errorf("a second change: %v", err)
	}
}

func TestSaveRefuses(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "precis.yaml")
	if err := os.WriteFile(folder, []byte("target: 33\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		yaml   string
		change config.Change
		code   precis.Code
		want   string
		src    config.Sources
		before func(path string) // between reading and saving
	}{
		"unknown key":       {change: config.Change{Key: "treshold", Value: "1"}, code: precis.CodeInvalid, want: "unknown key"},
		"no number":         {change: config.Change{Key: "threshold", Value: "much"}, code: precis.CodeInvalid, want: "no number"},
		"out of range":      {change: config.Change{Key: "warn", Value: "900"}, code: precis.CodeInvalid, want: "warn is 900"},
		"no percentage":     {change: config.Change{Key: "profiles.m", Value: "high"}, code: precis.CodeInvalid, want: "percentage"},
		"environment":       {change: config.Change{Key: "threshold", Value: "70"}, code: precis.CodeConflict, want: "$PRECIS_THRESHOLD", src: config.Sources{Env: func(k string) string { return map[string]string{"PRECIS_THRESHOLD": "65"}[k] }}},
		"flag":              {change: config.Change{Key: "threshold", Value: "70"}, code: precis.CodeConflict, want: "--set", src: config.Sources{Flags: map[string]string{"threshold": "65"}}},
		"current folder":    {change: config.Change{Key: "target", Value: "40"}, code: precis.CodeConflict, want: "precis.yaml:1", src: config.Sources{Folder: folder}},
		"changed meanwhile": {change: config.Change{Key: "threshold", Value: "70"}, code: precis.CodeConflict, want: "has changed", before: func(p string) { os.WriteFile(p, []byte("threshold: 61\n"), 0o600) }},
		"removed meanwhile": {change: config.Change{Key: "threshold", Value: "70"}, code: precis.CodeConflict, want: "has changed", before: func(p string) { os.Remove(p) }},
		"read-only":         {change: config.Change{Key: "threshold", Value: "70"}, code: precis.CodeInternal, want: "permission", before: func(p string) { os.Chmod(p, 0o400) }},
		"layout":            {yaml: "rungs:\n  - prune # cheap\n  - truncate\n  - clip\n", change: config.Change{Key: "rungs", Value: "truncate,clip"}, code: precis.CodeInvalid, want: "by hand"},
		"a line too long":   {change: config.Change{Key: "pin", Value: strings.Repeat("x", 17_000)}, code: precis.CodeInvalid, want: "by hand"},
	} {
		if tt.yaml == "" {
			tt.yaml = "threshold: 60\n"
		}
		path := written(t, tt.yaml)
		tt.src.User = path
		c, err := config.Load(tt.src)
		if err != nil {
			t.Fatal(err)
		}
		if tt.before != nil {
			tt.before(path)
		}
		before, _ := os.ReadFile(path)
		if now, err := c.Save(t.Context(), tt.change); precis.CodeOf(err) != tt.code || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, %v", name, now, err)
		}
		if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
			t.Errorf("%s: the file is %q", name, after)
		}
	}
	none, err := config.Load(config.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := none.Save(t.Context(), config.Change{Key: "warn", Value: "1"}); precis.CodeOf(err) != precis.CodeNotFound {
		t.Errorf("without any file: %v", err)
	}
}

// The user's own file is made, for nobody else to read.
func TestSaveMakesTheUsersFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "precis", "config.yaml")
	c, err := config.Load(config.Sources{User: path})
	if err != nil {
		t.Fatal(err)
	}
	now, err := c.Save(t.Context(), config.Change{Key: "keep.messages", Value: "5"})
	if err != nil || now.File != path || read(t, path) != "keep:\n  messages: 5\n" {
		t.Fatalf("%+v, %v", now, err)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" {
		t.Errorf("the mode is %v", info.Mode())
	}
}

// TestChangesSayWhatIsInForce: whatever a file says and whatever is in force, the
// file says the latter after a save, and nothing else.
func TestChangesSayWhatIsInForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "precis-save")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		path := filepath.Join(dir, "f.yaml")
		notes := rapid.SampledFrom([]string{"", " # note", "   # é: {"})
		var b strings.Builder
		fmt.Fprintf(&b, "# first\npreset: %s%s\n", rapid.SampledFrom(preset.Names()).Draw(t, "preset"), notes.Draw(t, "note"))
		for _, key := range []string{"threshold", "warn", "prepare", "target"} {
			if rapid.Bool().Draw(t, key) {
				fmt.Fprintf(&b, "%s: %d%s\n", key, rapid.IntRange(5, 100).Draw(t, "percent"), notes.Draw(t, "note"))
			}
		}
		b.WriteString(rapid.SampledFrom([]string{"", "auto_condense: false # off\n"}).Draw(t, "auto"))
		b.WriteString(rapid.SampledFrom([]string{"", "keep:\n    messages: 3 # few\n    # more\n", "keep: {messages: 5}\n"}).Draw(t, "keep"))
		b.WriteString(rapid.SampledFrom([]string{"", "profiles:\n  # by model\n  a: 40\n  b.c: -1 # none\n", "profiles: {a: 30}\n"}).Draw(t, "profiles"))
		b.WriteString("# last\nspend: {day: 2}\n")
		text := b.String()
		if rapid.Bool().Draw(t, "windows") {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := config.Load(config.Sources{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		want := c.Settings
		if rapid.Bool().Draw(t, "other preset") {
			if want, err = preset.Settings(rapid.SampledFrom(preset.Names()).Draw(t, "to")); err != nil {
				t.Fatal(err)
			}
			want.Spend = c.Settings.Spend
		}
		for _, at := range []*float64{&want.Percent, &want.Warn, &want.Prepare, &want.Target} {
			if rapid.Bool().Draw(t, "change") {
				*at = float64(rapid.IntRange(10, 200).Draw(t, "half percent")) / 2
			}
		}
		want.Auto = rapid.Bool().Draw(t, "on")
		want.Profiles = map[string]float64{}
		for _, name := range rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a", "b.c", "d/e:f", "7"}), rapid.ID).Draw(t, "names") {
			want.Profiles[name] = float64(rapid.IntRange(5, 9).Draw(t, "threshold"))
		}
		if _, err := c.Save(t.Context(), c.Changes(want)...); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		again, err := config.Load(config.Sources{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		if len(again.Changes(want)) > 0 {
			t.Fatalf("the file does not say %+v", again.Changes(want))
		}
		was := map[string]string{}
		for _, r := range c.Rows() {
			was[r.Key] = r.Value
		}
		for _, r := range again.Rows() {
			if (strings.HasPrefix(r.Key, "gateway.") || strings.HasPrefix(r.Key, "spend.") || strings.HasPrefix(r.Key, "summarizer.")) && was[r.Key] != r.Value {
				t.Fatalf("%s was %s and is %s", r.Key, was[r.Key], r.Value)
			}
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Count(string(data), "#") < strings.Count(text, "#")-1 { // with the line of a profile that goes
			t.Fatalf("comments are lost:\n%s\nbecame\n%s", text, data)
		}
	})
}
