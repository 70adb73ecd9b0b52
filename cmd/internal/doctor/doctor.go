// Package doctor checks an installation of the gateway and reports problems with their remedies.
// Use [Examine].
package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/config"
	"github.com/precis-dev/precis/preset"
)

// Levels of a [Finding].
const (
	OK   = "ok"
	Warn = "warn" // it works, but possibly not as intended
	Bad  = "bad"  // it does not work
)

// Finding is the result of one check.
type Finding struct {
	Check string `json:"check"`
	Level string `json:"level"`
	Text  string `json:"text"`
	Hint  string `json:"hint,omitempty"` // how to mend it
}

// Options select the checks.
type Options struct {
	Load   func() (*config.Config, error)
	Client string // the only client to look for; "": all known ones
	// Condensing reports why the configured summarizer cannot be used.
	Condensing func(*config.Config) (*preset.Condensing, error)
	KeyEnv     func(*config.Config) string // variable that holds the summarizer's key
	Env        func(string) string
	Hosts      *Hosts // agent programs with hooks and plugins; nil: not checked
}

// exam is one examination.
type exam struct {
	Options
	cfg      *config.Config
	findings []Finding
}

// Examine runs all checks and returns the findings, in the order of the checks.
func Examine(ctx context.Context, o Options) []Finding {
	e := &exam{Options: o}
	if !e.config() {
		return e.findings
	}
	e.store(ctx)
	e.secret()
	e.keys()
	e.listen(ctx)
	e.certificate()
	e.upstreams(ctx)
	e.windows(ctx)
	e.summarizer()
	e.rehearse(ctx)
	e.clients(ctx)
	e.hosts(ctx)
	return e.findings
}

// AnyBad reports whether any check has failed.
func AnyBad(all []Finding) bool {
	for _, f := range all {
		if f.Level == Bad {
			return true
		}
	}
	return false
}

func (e *exam) add(check, level, hint, format string, args ...any) {
	e.findings = append(e.findings, Finding{check, level, fmt.Sprintf(format, args...), hint})
}

func (e *exam) ok(check, format string, args ...any) { e.add(check, OK, "", format, args...) }

// config reports whether a configuration could be loaded.
func (e *exam) config() bool {
	const check = "configuration"
	c, err := e.Load()
	if err != nil {
		hint := "precis config lists the keys"
		if e, ok := errors.AsType[*precis.Error](err); ok && e.Hint != "" {
			hint = e.Hint
		}
		e.add(check, Bad, hint, "%v", err)
		return false
	}
	e.cfg = c
	where := cmp.Or(c.File, "no file, the defaults")
	if c.Folder != "" {
		where += ", and " + c.Folder + " of the current folder"
	}
	if len(c.Warnings) == 0 {
		e.ok(check, "%s, preset %s", where, c.Settings.Preset)
	}
	for _, w := range c.Warnings {
		e.add(check, Warn, "correct it in "+where, "%s", w)
	}
	return true
}

// private warns of a file that other users can read.
func (e *exam) private(check, path string) bool {
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o077 == 0 {
		return true
	}
	e.add(check, Warn, "chmod 600 "+path, "%s can be read by others (mode %04o)", path, info.Mode().Perm())
	return false
}

func (e *exam) summarizer() {
	const check = "summarizer"
	c := e.cfg.Summarizer
	if c.Model == "" {
		e.ok(check, "none: summaries are digests, written without a model")
		return
	}
	name, hint := e.KeyEnv(e.cfg), "see summarizer.* in precis config"
	if c.Model != "own" && e.Env(name) == "" {
		hint = "export " + name + ", or name another variable with summarizer.key_env"
	}
	if _, err := e.Condensing(e.cfg); err != nil {
		e.add(check, Bad, hint, "%v", err)
		return
	}
	if c.Model == "own" {
		e.ok(check, "the model of each conversation, with the client's key")
		return
	}
	if e.Env(name) == "" {
		e.add(check, Bad, hint, "%s has no key: %s is not set", c.Model, name)
		return
	}
	e.ok(check, "%s", c.Model)
}
