package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/config"
)

// loadBoth loads the user's file and one of the current folder.
func loadBoth(t *testing.T, user, folder string, flags map[string]string) (*config.Config, error) {
	t.Helper()
	dir := t.TempDir()
	src := config.Sources{User: filepath.Join(dir, "user.yaml"), Folder: filepath.Join(dir, "precis.yaml"), Flags: flags}
	for path, text := range map[string]string{src.User: user, src.Folder: folder} {
		if text == "" {
			continue
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return config.Load(src)
}

// asYAML writes a key and its value as a file does.
func asYAML(key, value string) string {
	var b strings.Builder
	names := strings.Split(key, ".")
	for depth, name := range names {
		b.WriteString(strings.Repeat("  ", depth) + name + ":")
		if depth < len(names)-1 {
			b.WriteString("\n")
		}
	}
	return b.String() + " " + value + "\n"
}

// What a folder may set. A key that is added later is refused unless it is added
// here, too.
var harmless = map[string]string{
	"preset": "frugal", "threshold": "60", "prepare": "50", "warn": "50", "target": "30", "threshold_tokens": "90000",
	"keep.messages": "7", "prune.tools": "[read=never]", "rungs": "[dedupe, truncate, clip]", "estimate": "chars4",
}

func TestAFolderSetsWhatIsHarmlessAndNothingElse(t *testing.T) {
	c, err := config.Load(config.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for _, r := range c.Rows() {
		value, ok := harmless[r.Key]
		if ok {
			c, err := loadBoth(t, "", asYAML(r.Key, value), nil)
			if err != nil || c.FromFolder != 1 {
				t.Errorf("%s: %v", r.Key, err)
				continue
			}
			for _, got := range c.Rows() {
				if got.Folder != (got.Key == r.Key) {
					t.Errorf("%s set: %s is of the folder: %v", r.Key, got.Key, got.Folder)
				}
			}
			continue
		}
		refused++
		for _, value := range []string{"1", "x", "[x]", "true", "{a: b}"} {
			_, err := loadBoth(t, "", "warn: 50\n"+asYAML(r.Key, value), nil)
			if precis.CodeOf(err) != precis.CodeInvalid || !errors.Is(err, config.ErrRefused) {
				t.Errorf("%s: %s is not refused: %v", r.Key, value, err)
				continue
			}
			line := "precis.yaml:2: "
			if strings.Contains(r.Key, ".") {
				line = "precis.yaml:3: "
			}
			if e, _ := errors.AsType[*precis.Error](err); !strings.Contains(err.Error(), line+r.Key+": ") || !strings.Contains(e.Hint, "user.yaml") || !strings.Contains(e.Hint, "--config") {
				t.Errorf("%s: %v, hint %q", r.Key, err, e.Hint)
			}
		}
	}
	if refused < 35 {
		t.Errorf("only %d keys are refused", refused)
	}
	if _, err := loadBoth(t, "", "profiles: {gpt-5: 40}\n", nil); err != nil {
		t.Error(err)
	}
	long := "# " + strings.Repeat("x", 1500) + "\nwarn: 50\n" // prompts are long, but not those of a folder
	if _, err := loadBoth(t, "", long, nil); precis.CodeOf(err) != precis.CodeInvalid {
		t.Errorf("a long line in a folder: %v", err)
	}
	if _, err := loadBoth(t, long, "", nil); err != nil {
		t.Errorf("a long line in the user's own file: %v", err)
	}
}

func TestAFolderCallsNoModelAndKeepsTheProtection(t *testing.T) {
	paid := "summarizer: {model: own}\n"
	for _, tt := range []struct{ user, folder, key string }{ // key: the one refused, "" none
		{"", "preset: off\n", "precis.yaml:1: preset"},
		{"", "rungs: [dedupe, clip]\n", "precis.yaml:1: rungs"},
		{"", "rungs: [dedupe, truncate]\n", "precis.yaml:1: rungs"},
		{"rungs: [clip]\n", "rungs: [dedupe, clip]\n", ""}, // the user did without
		{"preset: off\n", "preset: off\n", ""},
		{"preset: off\n", "preset: frugal\n", ""},
		{"", "preset: selective\n", ""}, // no model is configured
		{"", "threshold: 20\nthreshold_tokens: 2000\nprofiles: {m: 10}\n", ""},
		{paid, "preset: selective\n", "precis.yaml:1: preset"},
		{paid, "preset: frugal\nthreshold: 20\n", ""}, // no model is called then
		{paid, "rungs: [prune, truncate, clip]\nthreshold: 20\n", ""},
		{paid, "rungs: [dedupe, condense, truncate, clip]\n", ""},
		{"preset: frugal\n" + paid, "preset: balanced\n", "precis.yaml:1: preset"},
		{"preset: frugal\n" + paid, "rungs: [condense, truncate, clip]\n", ""}, // frugal has no such rung
		{"rungs: [prune, truncate, clip]\n" + paid, "rungs: [condense, truncate, clip]\n", "precis.yaml:1: rungs"},
		{paid, "rungs: [selective, condense, truncate, clip]\n", "precis.yaml:1: rungs"},
		{paid, "warn: 50\nthreshold: 60\n", "precis.yaml:2: threshold"},
		{paid, "threshold: 90\nprepare: 0\n", ""},
		{paid, "prepare: 20\n", "precis.yaml:1: prepare"},
		{"threshold_tokens: 80k\n" + paid, "threshold_tokens: 50k\n", "precis.yaml:1: threshold_tokens"},
		{"threshold_tokens: 80k\n" + paid, "threshold_tokens: 90k\n", ""},
		{paid, "profiles: {m: 10}\n", "precis.yaml:1: profiles.m"},
		{"profiles: {m: 90}\n" + paid, "profiles: {m: -1}\n", "precis.yaml:1: profiles.m"},
		{"preset: roo\n" + paid, "preset: balanced\n", "precis.yaml:1: preset"}, // 100 % becomes 75
	} {
		_, err := loadBoth(t, tt.user, tt.folder, nil)
		switch {
		case tt.key == "" && err != nil:
			t.Errorf("%q over %q: %v", tt.folder, tt.user, err)
		case tt.key != "" && (!errors.Is(err, config.ErrRefused) || !strings.Contains(err.Error(), tt.key+": ")):
			t.Errorf("%q over %q: %v, want %s refused", tt.folder, tt.user, err, tt.key)
		}
	}
	// A flag is the user's: it may choose what the folder may not.
	if _, err := loadBoth(t, "", "threshold: 20\n", map[string]string{"summarizer.model": "own", "preset": "frugal"}); err != nil {
		t.Error(err)
	}
	if _, err := loadBoth(t, "", "threshold: 20\n", map[string]string{"summarizer.model": "own"}); !errors.Is(err, config.ErrRefused) {
		t.Errorf("a model is called earlier: %v", err)
	}
}

// The user's own file stays in force below: without that, an empty file would
// take away keys, limits and hooks.
func TestTheUsersFileStaysInForce(t *testing.T) {
	c, err := loadBoth(t, "threshold: 70\nspend: {day: 3}\ngateway: {keys_file: k}\n", "threshold: 80\n", nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.Settings.Spend.Day != 3 || c.Gateway.KeysFile != "k" || c.Settings.Percent != 80 || !strings.HasSuffix(c.File, "user.yaml") || !strings.HasSuffix(c.Folder, "precis.yaml") {
		t.Errorf("%+v", c)
	}
	if c, err = loadBoth(t, "", "# nothing\n", nil); err != nil || c.FromFolder != 0 {
		t.Errorf("%v, %+v", err, c)
	}
}
