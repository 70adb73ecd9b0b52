package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/folder"
	"github.com/precis-dev/precis/preset"
)

// ErrRefused is the cause of the error for a key that a file in the current
// folder must not set.
var ErrRefused = errors.New("a file in the current folder must not set this")

// folderKeys are the keys that a file in the current folder may set, in addition to profiles: how
// early and how far a conversation is reduced. Keys outside the list are refused, so a new key is
// refused until it has been considered.
//
// Deliberately excluded are: keys that name a program, an address, a file, a key or a model; bounds
// on the cost of model calls (spend.*); keys that switch the protection off or misstate the window
// (auto_condense, window); and pin, which would let the author of a repository keep a text of their
// own in every view.
var folderKeys = map[string]bool{
	"preset": true, "rungs": true, "estimate": true, "threshold": true, "prepare": true, "warn": true,
	"target":           true,
	"threshold_tokens": true, "keep.messages": true, "prune.tools": true,
}

// readFolder reads the file in the current folder; nil if it does not exist.
func readFolder(path, user string) (map[string]value, error) {
	data, err := folder.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &precis.Error{Code: precis.CodeInvalid, Op: opRead, Place: path, Err: err}
	}
	values := map[string]value{}
	if err := (yamlReader{values: values, name: path, folder: true}).read(data); err != nil {
		hint := "precis config lists the keys"
		if errors.Is(err, ErrRefused) {
			hint = hintRefused(path, user)
		}
		return nil, &precis.Error{Code: precis.CodeInvalid, Op: opRead, Err: err, Hint: hint}
	}
	return values, nil
}

func hintRefused(path, user string) string {
	return fmt.Sprintf("move it to %s, or name the file: --config %s",
		cmp.Or(user, "your own configuration file"), path)
}

// checkFolderFile compares the configuration with the one without the file in the current folder.
// That file must not switch the protection off, add a rung that calls a model, or make a configured
// model be called earlier.
func (c *Config) checkFolderFile(trusted *Config) error {
	if c.Settings.Observe && !trusted.Settings.Observe {
		return c.refuse("preset", "turn precis off")
	}
	for _, rung := range []string{"truncate", "clip"} { // without them a view may not fit
		if usesRung(trusted, rung) && !usesRung(c, rung) {
			return c.refuse("rungs", "leave out "+rung)
		}
	}
	if trusted.Summarizer.Model == "" {
		return nil // no model is called, whatever the rungs are
	}
	for _, rung := range []string{"selective", "condense"} {
		if usesRung(c, rung) && !usesRung(trusted, rung) {
			return c.refuse("rungs", "have a model called: "+rung)
		}
	}
	if !usesRung(c, "selective") && !usesRung(c, "condense") {
		return nil
	}
	return c.checkNoEarlierModel(trusted)
}

// usesRung reports whether a configuration uses a rung. The preset frugal has no rungs that call a
// model, and selective must be requested.
func usesRung(c *Config, rung string) bool {
	s := c.Settings
	switch {
	case s.Rungs != nil && !slices.Contains(s.Rungs, rung):
		return false
	case rung == "selective":
		return s.Preset == preset.Selective ||
			s.Preset != preset.Frugal && (c.Summarizer.Selective || slices.Contains(s.Rungs, rung))
	case rung == "condense":
		return s.Preset != preset.Frugal
	}
	return true
}

// checkNoEarlierModel returns an error when the configuration calls a model earlier than the trusted one.
// The number of calls is bounded by [policy.Settings.Cap], and their cost by spend.*, which only the
// user can set.
func (c *Config) checkNoEarlierModel(trusted *Config) error {
	s, t := c.Settings, trusted.Settings
	names := []string{""}
	names = append(names, sortedProfiles(s.Profiles)...)
	names = append(names, sortedProfiles(t.Profiles)...)
	for _, name := range names {
		now, _, _ := s.Threshold(name)
		was, _, _ := t.Threshold(name)
		if now < was {
			key := "threshold"
			if c.origins[profilePrefix+name].folder {
				key = profilePrefix + name
			}
			return c.refuse(key, "have a model called earlier")
		}
	}
	for _, at := range []struct {
		key      string
		now, was float64
	}{
		{"prepare", s.Prepare, t.Prepare},
		{"threshold_tokens", float64(s.Tokens), float64(t.Tokens)},
	} {
		if at.now > 0 && (at.was <= 0 || at.now < at.was) { // 0 means never
			return c.refuse(at.key, "have a model called earlier")
		}
	}
	return nil
}

// refuse returns the error for a key, or for the preset that its value comes from.
func (c *Config) refuse(key, what string) error {
	if !c.origins[key].folder {
		key = "preset"
	}
	return &precis.Error{Code: precis.CodeInvalid, Op: opRead, Place: c.origins[key].origin + ": " + key,
		Hint: hintRefused(c.Folder, c.user),
		Err:  refused("a file in the current folder must not " + what)}
}

// refused is an [ErrRefused] with a description of the attempt.
type refused string

func (r refused) Error() string { return string(r) }
func (refused) Unwrap() error   { return ErrRefused }
