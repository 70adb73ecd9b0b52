// Package config determines the configuration of the precis command. In ascending precedence, it
// consists of a preset, the user's strict YAML file, a file in the current folder, environment
// variables, and flags. It records the origin of each value. Start with [Load].
//
// The file in the current folder is not trusted, because it may come with a cloned repository. It
// may set only the keys of an explicit list, and only in ways that call no model and keep the
// conversation protected; see [ErrRefused].
package config

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
)

// Config is the effective configuration.
type Config struct {
	Settings   policy.Settings
	Estimate   string // the counter's name
	Model      string // of flags, not configured; "": the model that the recording names
	Window     int    // tokens; 0: the model's
	MaxOutput  int    // tokens, of flags, not configured; 0: unknown
	MemoryMB   int    // for the recording of one command; 0: by the machine
	ModelsFile string // overrides of the catalog; "": none
	Summarizer Summarizer
	Hooks      Hooks
	Gateway    Gateway
	Sessions   Sessions
	// Experiments are run on the conversations of a gateway, by name.
	Experiments []Experiment

	File       string   // the file that was read, the user's or a named one; "": none
	Folder     string   // the file in the current folder, if it was read; "": none
	FromFolder int      // number of values that it set
	Warnings   []string // such as thresholds out of range, and keys of earlier versions
	user       string   // the user's own file, even if it does not exist
	origins    map[string]value

	src Sources  // the configuration was read from
	sum [32]byte // SHA-256 of File
}

// Summarizer configures the model that condenses.
type Summarizer struct {
	Model, Dialect, URL, KeyEnv string
	Template                    string
	Prompt                      string // "": the text of PromptFile or of the template
	PromptFile, RulesFile       string
	Cache                       string // file; "": in the user's cache folder; "off": none
	Timeout                     int    // seconds; 0: the default
	Selective, Reasoning        bool
}

// MaxPrompt bounds [Summarizer.Prompt], in bytes.
const MaxPrompt = 12_000

// Sessions configures how recorded conversations are found.
type Sessions struct {
	Roots []string // searched folders in addition to those known for agent programs
	Index string   // file; "": in the user's cache folder; "off": none
}

// Hooks are command lines or URLs: called around condensations with a model, around every rung, and
// for alerts; "": none.
type Hooks struct{ Before, After, RungBefore, RungAfter, Alert string }

// Sources are the sources of the configuration. The zero value gives the defaults.
type Sources struct {
	Path   string              // file that the user names; it must exist, and User is not read
	User   string              // the user's own file, read if it exists
	Folder string              // file in the current folder, merged over User if it exists
	Env    func(string) string // environment; nil: none
	Flags  map[string]string   // by key, see [Known]
	Names  map[string]string   // of the flags, by key, as "--window"; absent: --set

	text *[]byte // replaces the content of the file; nil: read the file
}

// EnvPrefix begins the names of environment variables: key keep.messages is
// PRECIS_KEEP_MESSAGES.
const EnvPrefix = "PRECIS_"

// FolderFile is the name of the file looked for in the current folder.
const FolderFile = "precis.yaml"

// UserFile returns the path of the user's own file, which need not exist; "" if the user has no
// configuration folder.
func UserFile() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "precis", "config.yaml")
}

// value is a configured value before it is set.
type value struct {
	text   string
	origin string
	file   bool // it comes from the user's file, or the named one
	folder bool // it comes from the file in the current folder
}

// Load returns the effective configuration. The error is [precis.CodeInvalid]
// and names the file and line, the variable or the flag at fault.
func Load(src Sources) (*Config, error) {
	values, err := collect(src)
	if err != nil {
		return nil, err
	}
	c, err := values.config()
	if err != nil {
		return nil, err
	}
	c.src, c.sum = src, values.sum
	if len(values.folder) > 0 {
		trusted, err := values.withoutFolder().config()
		if err != nil {
			return nil, err
		}
		c.user = src.User
		if err := c.checkFolderFile(trusted); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// layers are the values of all sources, in ascending precedence.
type layers struct {
	file, folderFile        string   // files that were read; "": none
	sum                     [32]byte // SHA-256 of file
	user, folder, env, flag map[string]value
}

func (l layers) withoutFolder() layers {
	l.folderFile, l.folder = "", nil
	return l
}

// config applies the values of all layers to a preset.
func (l layers) config() (*Config, error) {
	values := map[string]value{}
	for _, layer := range []map[string]value{l.user, l.folder, l.env, l.flag} {
		maps.Copy(values, layer)
	}
	c, err := l.configFor(values)
	if err == nil {
		c.Experiments, err = l.experiments(values)
	}
	if err != nil {
		return nil, err
	}
	c.Warnings = append(outdated(values), c.thresholds()...)
	return c, nil
}

// configFor returns the configuration for values, without experiments.
func (l layers) configFor(values map[string]value) (*Config, error) {
	c := &Config{Estimate: "o200k", File: l.file, Folder: l.folderFile, FromFolder: len(l.folder),
		origins: map[string]value{}, Gateway: defaultGateway}
	name := values["preset"]
	var err error
	if c.Settings, err = preset.Settings(name.text); err != nil {
		return nil, place(name, "preset", err)
	}
	base := "preset " + c.Settings.Preset
	for _, k := range keys {
		c.origins[k.name] = value{origin: base}
		if k.ownDefault {
			c.origins[k.name] = value{origin: "default"}
		}
	}
	for _, name := range order(values) {
		if err := c.set(name, values[name]); err != nil {
			return nil, err
		}
	}
	if err := c.Settings.Validate(); err != nil {
		return nil, c.addSource(err, cmp.Or(l.folderFile, l.file))
	}
	return c, nil
}

// addSource adds the source and the key of an invalid setting to an error; the file if neither is
// known.
func (c *Config) addSource(err error, file string) error {
	out := &precis.Error{Code: precis.CodeInvalid, Op: opRead, Place: file, Err: err}
	var e *precis.Error
	if !errors.As(err, &e) || e.Err == nil {
		return out
	}
	field, _, _ := strings.Cut(e.Err.Error(), " ") // name of the setting: keep_messages for keep.messages
	field = strings.TrimSuffix(field, ":")
	for _, k := range keys {
		if strings.ReplaceAll(k.name, ".", "_") == field || k.name == field {
			out.Place, out.Err = c.origins[k.name].origin, errors.New(k.name+e.Err.Error()[len(field):])
		}
	}
	return out
}

// Blame adds its source to an error that names a configured key: the flag, the variable, or the line.
// Keys of one word are not looked for.
func (c *Config) Blame(err error) error {
	var e *precis.Error
	if !errors.As(err, &e) || e.Err == nil {
		return err
	}
	text := e.Op + " " + e.Err.Error() + " "
	for _, k := range keys {
		_, after, named := strings.Cut(text, k.name)
		if from := c.Origin(k.name); named && c.Given(k.name) && strings.ContainsAny(k.name, "._") &&
			strings.ContainsAny(after[:1], " :,") && !strings.Contains(e.Place, from) {
			own := *e
			own.Place = strings.TrimSuffix(from+": "+e.Place, ": ")
			return &own
		}
	}
	return err
}

const opRead = "read configuration"

// collect reads the values of all sources.
func collect(src Sources) (layers, error) {
	l := layers{user: map[string]value{}, env: map[string]value{}, flag: map[string]value{}}
	file, data, err := readFile(src)
	if err != nil {
		return l, err
	}
	if l.file = file; file != "" {
		l.sum = sha256.Sum256(data)
		if err := (yamlReader{values: l.user, name: file, file: true}).read(data); err != nil {
			return l, &precis.Error{Code: precis.CodeInvalid, Op: opRead, Err: err,
				Hint: "precis config lists the keys"}
		}
	}
	if src.Path == "" && src.Folder != "" {
		if l.folder, err = readFolder(src.Folder, src.User); err != nil {
			return l, err
		}
		if l.folder != nil {
			l.folderFile = src.Folder
		}
	}
	if src.Env != nil {
		for _, k := range every() {
			name := EnvPrefix + strings.ToUpper(strings.ReplaceAll(k.name, ".", "_"))
			if v := src.Env(name); v != "" {
				l.env[k.name] = value{text: v, origin: "$" + name}
			}
		}
	}
	for name, v := range src.Flags {
		l.flag[name] = value{text: v, origin: cmp.Or(src.Names[name], "--set")}
	}
	return l, nil
}

// readFile reads the file that the user names, else the user's own if it exists.
func readFile(src Sources) (string, []byte, error) {
	path := cmp.Or(src.Path, src.User)
	if path == "" {
		return "", nil, nil
	}
	if src.text != nil {
		return path, *src.text, nil
	}
	data, err := os.ReadFile(path)
	switch {
	case err == nil:
		return path, data, nil
	case src.Path != "":
		return "", nil, &precis.Error{Code: precis.CodeNotFound, Op: opRead, Place: path,
			Err: errors.Unwrap(err)}
	case errors.Is(err, fs.ErrNotExist):
		return "", nil, nil
	}
	return "", nil, &precis.Error{Code: precis.CodeInternal, Op: opRead, Place: path, Err: err}
}

// order returns the names of the values in the order of setting them: keys of earlier versions, keys
// in their order, profiles.
func order(values map[string]value) []string {
	var names []string
	for _, k := range every() {
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
	k := find(name)
	if k.gone {
		return nil
	}
	if err := k.set(c, v.text); err != nil {
		return place(v, name, err)
	}
	c.origins[successor(name)] = v
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
	c.origins[profilePrefix+profile] = v
	return nil
}

// thresholds returns the warnings of thresholds that are out of range.
func (c *Config) thresholds() []string {
	global, _, warnings := c.Settings.Threshold("")
	for _, name := range sortedProfiles(c.Settings.Profiles) {
		if p := c.Settings.Profiles[name]; p != policy.Inherit {
			_, _, own := policy.Settings{Percent: global, Profiles: c.Settings.Profiles}.Threshold(name)
			warnings = append(warnings, own...)
		}
	}
	return warnings
}

func place(v value, name string, err error) error {
	return &precis.Error{Code: precis.CodeInvalid, Op: opRead, Place: fmt.Sprintf("%s: %s", v.origin, name),
		Err: err}
}
