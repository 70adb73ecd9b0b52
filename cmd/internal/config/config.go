// Package config works out the configuration of the precis command: a preset,
// a strict YAML file over it, environment variables over that, flags on top. It
// remembers where each value came from. Start with [Load].
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"precis"
	"precis/preset"
)

// Config is the effective configuration.
type Config struct {
	Settings   precis.Settings
	Estimate   string // way of counting
	Model      string // "": the one the recording names
	Window     int    // tokens; 0: the model's
	MaxOutput  int    // tokens; 0: unknown
	ModelsFile string // overrides of the catalogue; "": none
	Summarizer Summarizer
	Hooks      Hooks
	Gateway    Gateway

	File     string   // the file that was read; "": none
	Warnings []string // thresholds out of range and the like
	origins  map[string]string
}

// Summarizer is the profile of the model that condenses.
type Summarizer struct {
	Model, Dialect, URL, KeyEnv string
	Mode, Template              string
	PromptFile, RulesFile       string
	Cache                       string // file; "": in the user's cache folder; "off": none
	MaxTokens                   int    // of a summary; 0: the default
	Timeout                     int    // seconds; 0: the default
	Selective, SelfCheck        bool
}

// Hooks are command lines or URLs, asked around condensations with a model and
// told of alerts; "": none.
type Hooks struct{ Before, After, Alert string }

// Sources say where configuration comes from.
type Sources struct {
	Path  string              // file the user names; it must exist
	Paths []string            // files to look for; the first that exists is read
	Env   func(string) string // environment; nil: none
	Flags map[string]string   // by key, see [Keys]
}

// EnvPrefix begins the names of environment variables: key keep.messages is
// PRECIS_KEEP_MESSAGES.
const EnvPrefix = "PRECIS_"

// DefaultPaths are the files looked for: precis.yaml here, then in the user's
// configuration folder.
func DefaultPaths() []string {
	paths := []string{"precis.yaml"}
	if dir, err := os.UserConfigDir(); err == nil {
		paths = append(paths, filepath.Join(dir, "precis", "config.yaml"))
	}
	return paths
}

// value is one configured value before it is set.
type value struct {
	text   string
	origin string
}

// Load returns the effective configuration. The error is [precis.CodeInvalid]
// and names the file and line, the variable or the flag at fault.
func Load(src Sources) (*Config, error) {
	values, file, err := collect(src)
	if err != nil {
		return nil, err
	}
	c := &Config{Estimate: "o200k", File: file, origins: map[string]string{}, Gateway: defaultGateway}
	name := values["preset"]
	if c.Settings, err = preset.Settings(name.text); err != nil {
		return nil, place(name, "preset", err)
	}
	base := "preset " + c.Settings.Preset
	for _, k := range keys {
		c.origins[k.name] = base
		if k.plain {
			c.origins[k.name] = "default"
		}
	}
	for _, name := range order(values) {
		if err := c.set(name, values[name]); err != nil {
			return nil, err
		}
	}
	if err := c.Settings.Validate(); err != nil {
		return nil, &precis.Error{Code: precis.CodeInvalid, Op: "read configuration", Place: file, Err: err}
	}
	c.check()
	return c, nil
}

// collect gathers the values of all sources, the strongest winning.
func collect(src Sources) (map[string]value, string, error) {
	values := map[string]value{}
	file, data, err := readFile(src)
	if err != nil {
		return nil, "", err
	}
	if file != "" {
		if err := fromYAML(values, file, data); err != nil {
			return nil, "", &precis.Error{Code: precis.CodeInvalid, Op: "read configuration", Err: err, Hint: "precis config lists the keys"}
		}
	}
	if src.Env != nil {
		for _, k := range keys {
			name := EnvPrefix + strings.ToUpper(strings.ReplaceAll(k.name, ".", "_"))
			if v := src.Env(name); v != "" {
				values[k.name] = value{v, "$" + name}
			}
		}
	}
	for name, v := range src.Flags {
		values[name] = value{v, "flag"}
	}
	return values, file, nil
}

func readFile(src Sources) (string, []byte, error) {
	if src.Path != "" {
		data, err := os.ReadFile(src.Path)
		if err != nil {
			return "", nil, &precis.Error{Code: precis.CodeNotFound, Op: "read configuration", Place: src.Path, Err: errors.Unwrap(err)}
		}
		return src.Path, data, nil
	}
	for _, path := range src.Paths {
		data, err := os.ReadFile(path)
		if err == nil {
			return path, data, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", nil, &precis.Error{Code: precis.CodeInternal, Op: "read configuration", Place: path, Err: err}
		}
	}
	return "", nil, nil
}

// order returns the names of the values as they are to be set: in the order of
// the keys, profiles last.
func order(values map[string]value) []string {
	var names []string
	for _, k := range keys {
		if _, ok := values[k.name]; ok {
			names = append(names, k.name)
		}
	}
	var profiles []string
	for name := range values {
		if strings.HasPrefix(name, profilePrefix) {
			profiles = append(profiles, name)
		}
	}
	slices.Sort(profiles)
	return append(names, profiles...)
}

func (c *Config) set(name string, v value) error {
	if profile, ok := strings.CutPrefix(name, profilePrefix); ok {
		return c.setProfile(profile, v)
	}
	i := slices.IndexFunc(keys, func(k key) bool { return k.name == name })
	if err := keys[i].set(c, v.text); err != nil {
		return place(v, name, err)
	}
	c.origins[name] = v.origin
	return nil
}

func (c *Config) setProfile(profile string, v value) error {
	if c.Settings.Profiles == nil {
		c.Settings.Profiles = map[string]float64{}
	}
	percent, err := parseNumber(v.text)
	if err != nil {
		return place(v, profilePrefix+profile, err)
	}
	c.Settings.Profiles[profile] = percent
	c.origins[profilePrefix+profile] = v.origin
	return nil
}

// check collects the warnings of thresholds that are out of range.
func (c *Config) check() {
	_, _, warnings := c.Settings.Threshold("")
	c.Warnings = append(c.Warnings, warnings...)
	for _, name := range sortedProfiles(c.Settings.Profiles) {
		if p := c.Settings.Profiles[name]; p != precis.Inherit {
			_, _, warnings := precis.Settings{Percent: 100, Profiles: c.Settings.Profiles}.Threshold(name)
			c.Warnings = append(c.Warnings, warnings...)
		}
	}
}

func place(v value, name string, err error) error {
	return &precis.Error{Code: precis.CodeInvalid, Op: "read configuration", Place: fmt.Sprintf("%s: %s", v.origin, name), Err: err}
}
