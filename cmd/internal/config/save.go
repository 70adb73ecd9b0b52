package config

import (
	"bytes"
	"cmp"
	"context"
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
	"github.com/precis-dev/precis/internal/atomicfile"
	"github.com/precis-dev/precis/internal/filelock"
	"github.com/precis-dev/precis/internal/strictyaml"
	"github.com/precis-dev/precis/internal/suggest"
	"github.com/precis-dev/precis/internal/yamledit"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
)

// Change is a change to a value of a configuration file.
type Change struct {
	Key    string // see [Known] and [ExperimentKey]
	Value  string // as on the command line: a list is comma-separated
	Remove bool   // remove the key; Value is ignored
}

const opWrite = "write configuration"

// Rewrite returns the text of a configuration file with changed values. Every other byte stays:
// comments, order, indentation, line ends. The error is [precis.CodeInvalid] and names the key; the
// result is not validated.
func Rewrite(data []byte, changes ...Change) ([]byte, error) {
	for _, c := range changes {
		path, isList, err := pathOf(c.Key)
		if instead := outdatedKey(c.Key); instead != "" && !c.Remove {
			return nil, &precis.Error{Code: precis.CodeInvalid, Op: opWrite, Err: errors.New(instead)}
		}
		if err == nil && c.Remove {
			data, err = yamledit.Remove(data, path...)
		} else if err == nil {
			v := yamledit.Lines(c.Value)
			if isList {
				v = yamledit.List(items(c.Value)...)
			}
			data, err = yamledit.Set(data, v, path...)
		}
		if err == nil && unreadable(data) {
			err = fmt.Errorf("%s: %w", c.Key, yamledit.ErrLayout)
		}
		if err != nil {
			e := &precis.Error{Code: precis.CodeInvalid, Op: opWrite, Err: err}
			switch {
			case path == nil:
				e.Hint = cmp.Or(suggest.DidYouMean(c.Key, Keys()), "precis config lists the keys")
			case errors.Is(err, yamledit.ErrLayout):
				e.Hint = fmt.Sprintf("%s is to be %.200s", c.Key, cmp.Or(firstLine(c.Value), "left out"))
			}
			return nil, e
		}
	}
	return data, nil
}

// unreadable reports whether a configuration file cannot be parsed.
func unreadable(data []byte) bool {
	_, err := strictyaml.ParseOwn(data)
	return err != nil
}

// pathOf returns the path of a key in a file.
func pathOf(name string) (path []string, isList bool, err error) {
	if rest, ok := strings.CutPrefix(name, experimentPrefix); ok {
		return pathOfExperiment(rest)
	}
	if profile, ok := strings.CutPrefix(name, profilePrefix); ok && profile != "" {
		return []string{strings.TrimSuffix(profilePrefix, "."), profile}, false, nil
	}
	k := find(name)
	if k == nil {
		return nil, false, fmt.Errorf("%.60s: unknown key", name)
	}
	return strings.Split(name, "."), k.list, nil
}

// items returns the items of a comma-separated list.
func items(s string) []string {
	var out []string
	for item := range strings.SplitSeq(s, ",") {
		if item = strings.TrimSpace(item); item != "" {
			out = append(out, item)
		}
	}
	return out
}

// Changes returns the changes to the configuration file that make the settings equal s; nil if they
// already do. It changes existing keys rather than removing them, so that comments about them stay
// in place.
func (c *Config) Changes(s policy.Settings) []Change {
	want, is := *c, *c
	want.Settings = s
	var out []Change
	if s.Preset != c.Settings.Preset {
		out = append(out, Change{Key: "preset", Value: s.Preset})
		if base, err := preset.Settings(s.Preset); err == nil {
			is.Settings = base
		}
	}
	for _, k := range keys {
		if k.name == "preset" || k.ownDefault {
			continue
		}
		now := k.get(&is)
		if c.Given(k.name) {
			now = k.get(c)
		}
		if v := k.get(&want); v != now {
			out = append(out, Change{Key: k.name, Value: v})
		}
	}
	for _, name := range sortedProfiles(s.Profiles) {
		if was, ok := c.Settings.Profiles[name]; !ok || was != s.Profiles[name] {
			out = append(out, Change{Key: profilePrefix + name, Value: formatNumber(s.Profiles[name])})
		}
	}
	for _, name := range sortedProfiles(c.Settings.Profiles) {
		if _, ok := s.Profiles[name]; !ok {
			out = append(out, Change{Key: profilePrefix + name, Remove: true})
		}
	}
	return out
}

// Save changes values in the file that c was read from, [Config.File]; if there was none, in the
// user's own file, which is created. It follows a link. It returns the configuration then in force.
// The file is written only if the new text has no difference but the changes, is
// valid together with all other sources, and puts the changes in force. The error is
// [precis.CodeConflict] when the file has changed since it was read, or when a source with higher
// precedence sets a key; [precis.CodeInvalid] for an invalid value, or a file layout that cannot be
// edited; [precis.CodeNotFound] when there is no file; [precis.CodeInternal] when it cannot be
// written.
func (c *Config) Save(ctx context.Context, changes ...Change) (*Config, error) {
	path := cmp.Or(c.File, c.src.User)
	if path == "" {
		return nil, &precis.Error{Code: precis.CodeNotFound, Op: opWrite,
			Err: errors.New("there is no configuration file"), Hint: "name one: --config FILE"}
	}
	target := path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		target = real
	}
	if c.File == "" {
		if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
			return nil, &precis.Error{Code: precis.CodeInternal, Op: opWrite, Place: path, Err: err}
		}
	}
	unlock, err := filelock.Own(ctx, target)
	if err != nil {
		return nil, err
	}
	defer unlock()
	data, err := c.unchanged(target)
	if err != nil {
		return nil, err
	}
	text, err := Rewrite(data, changes...)
	if err != nil {
		return nil, at(path, err)
	}
	src := c.src
	src.text = &text
	now, err := Load(src)
	if err != nil {
		return nil, err
	}
	now.src.text = nil
	if err := checkChangedOnly(data, text, changes); err != nil {
		return nil, at(path, err)
	}
	if err := now.checkInForce(changes); err != nil {
		return nil, err
	}
	were, are := c.thresholds(), now.thresholds()
	if i := slices.IndexFunc(are, func(w string) bool { return !slices.Contains(were, w) }); i >= 0 {
		// The value would be replaced by another one.
		why, _, _ := strings.Cut(are[i], "; using ")
		return nil, &precis.Error{Code: precis.CodeInvalid, Op: opWrite, Place: path, Err: errors.New(why)}
	}
	if bytes.Equal(text, data) {
		return now, nil
	}
	return now, atomicfile.Write(target, text)
}

// at adds the file to an error that names none.
func at(path string, err error) error {
	var e *precis.Error
	if errors.As(err, &e) && e.Place == "" {
		e.Place = path
	}
	return err
}

// unchanged returns the content of the file; an error when it has changed since it was read.
func (c *Config) unchanged(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && c.File == "":
		return nil, nil
	case err == nil && c.File != "" && sha256.Sum256(data) == c.sum:
		return data, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, &precis.Error{Code: precis.CodeInternal, Op: opWrite, Place: path, Err: err}
	}
	return nil, &precis.Error{Code: precis.CodeConflict, Op: opWrite, Place: path,
		Err: errors.New("it has changed since it was read"), Hint: "look at the settings and try again"}
}

// Unchanged reports whether the file of a configuration is unchanged since it was read.
func (c *Config) Unchanged() bool {
	data, err := os.ReadFile(c.File)
	return err == nil && sha256.Sum256(data) == c.sum
}

// checkChangedOnly checks that a new text of a file differs from the old one only in the changes.
func checkChangedOnly(old, text []byte, changes []Change) error {
	was, err := fileValues(old)
	if err != nil {
		return err
	}
	is, err := fileValues(text)
	if err != nil {
		return err
	}
	for _, c := range changes {
		path, isList, _ := pathOf(c.Key)
		if arm := armOf(path); arm != "" && !c.Remove {
			was[arm] = "" // it exists, with a value or without
		}
		switch {
		case c.Remove && strings.HasSuffix(c.Key, "/"): // with all its values
			maps.DeleteFunc(was, func(key, _ string) bool { return strings.HasPrefix(key, c.Key) })
		case c.Remove:
			delete(was, c.Key)
		case isList:
			was[c.Key] = strings.Join(items(c.Value), ",")
		default:
			was[c.Key] = c.Value
		}
	}
	if !maps.Equal(was, is) {
		return &precis.Error{Code: precis.CodeInvalid, Op: opWrite, Err: yamledit.ErrLayout}
	}
	return nil
}

// armOf returns the key of the arm that a path of a file leads into; "": none.
func armOf(path []string) string {
	if len(path) < 4 || path[0]+"/" != experimentPrefix {
		return ""
	}
	return experimentPrefix + path[1] + "/" + path[3] + "/"
}

// fileValues returns the values of a file by key.
func fileValues(data []byte) (map[string]string, error) {
	values := map[string]value{}
	if err := (yamlReader{values: values}).read(data); err != nil {
		return nil, &precis.Error{Code: precis.CodeInvalid, Op: opWrite, Err: err}
	}
	out := map[string]string{}
	for k, v := range values {
		out[k] = v.text
	}
	return out, nil
}

// checkInForce checks that changes of the file are in force, and not overridden by a source with higher
// precedence.
func (c *Config) checkInForce(changes []Change) error {
	for _, ch := range changes {
		from, ok := c.origins[ch.Key]
		if !ok || !c.Given(ch.Key) || from.file {
			continue
		}
		return &precis.Error{Code: precis.CodeConflict, Op: opWrite,
			Err:  fmt.Errorf("%s is set by %s, which counts more than the file", ch.Key, from.origin),
			Hint: "change it there"}
	}
	return nil
}
