// Package console is what a command has of the world: its input, and the two streams
// that it writes to. Text for people goes through [Console.Text] and
// [Console.Notes], which keep a terminal safe from what a recording holds; JSON goes
// through [Console.JSON] and [Console.Data]. Start with [New].
package console

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/pflag"

	"precis"
	"precis/cmd/internal/term"
	"precis/internal/texts"
)

// Streams are the standard streams of a process, and what they lead to.
type Streams struct {
	In            io.Reader
	Out, Errs     io.Writer
	OutTo, ErrsTo term.Options
	Lang          string // of texts for people, see texts.Languages; "": the default one
}

// Standard returns the streams of this process.
func Standard(env func(string) string) Streams {
	return Streams{In: os.Stdin, Out: os.Stdout, Errs: os.Stderr, OutTo: term.Detect(os.Stdout, env), ErrsTo: term.Detect(os.Stderr, env), Lang: LanguageOf(env)}
}

// Console is safe for concurrent use once its flags are set.
type Console struct {
	Streams              // the bare streams, for programs that are started
	Text    *term.Writer // what was asked for, to standard output
	Notes   *term.Writer // warnings, errors and progress, to standard error
	Words   *Words       // the language of people

	mu    sync.Mutex               // guards shown, and is held while a line is printed
	shown *progressbar.ProgressBar // progress that stands on the last line; nil: none does

	// Flags that all commands share.
	AsJSON, Quiet, Verbose, Raw bool
	lang                        string
}

// New returns a console over streams.
func New(s Streams) *Console {
	return &Console{Streams: s, Text: term.New(s.Out, s.OutTo), Notes: term.New(s.Errs, s.ErrsTo), Words: &Words{Lang: s.Lang}}
}

// Register defines the flags. Once they are parsed [Console.Begin] is to be called.
func (c *Console) Register(f *pflag.FlagSet) {
	f.BoolVar(&c.AsJSON, "json", false, "print JSON")
	f.BoolVarP(&c.Quiet, "quiet", "q", false, "print no progress and no warnings")
	f.BoolVarP(&c.Verbose, "verbose", "v", false, "print the arithmetic behind a result, and log each check to standard error")
	f.StringVar(&c.lang, "lang", "", "`LANGUAGE` of results and errors: "+strings.Join(texts.Languages(), ", ")+" (default that of LANG)")
	f.BoolVar(&c.Raw, "raw", false, "on a terminal, print control characters of a recording as they are")
}

// Begin applies the flags to the streams. The error is [precis.CodeInvalid] for a
// language that is not there.
func (c *Console) Begin() error {
	if c.Raw {
		c.Text.Raw()
		c.Notes.Raw()
	}
	if c.lang == "" {
		return nil
	}
	lang, ok := texts.Known(c.lang)
	if !ok {
		return precis.Errorf(precis.CodeInvalid, "choose language", "--lang is %.20q, want one of %s", c.lang, strings.Join(texts.Languages(), ", "))
	}
	c.Words = &Words{Lang: lang}
	return nil
}

// Close writes what is left to write.
func (c *Console) Close() error { return errors.Join(c.Text.Flush(), c.Notes.Flush()) }

// Fail prints an error; hint is what can be done about it, "" when nobody knows. In other
// languages than English, in which errors are written, it says first of what kind it is.
func (c *Console) Fail(err error, hint string) {
	text := err.Error()
	if kind := c.Words.problem(err); kind != "" {
		text = kind + " (" + text + ")"
	}
	c.say("bad", c.label("error"), text)
	if hint != "" {
		c.say("dim", c.label("hint"), hint)
	}
}

// IsOwn reports whether an error is one of precis, not of the command line.
func IsOwn(err error) bool {
	_, ok := errors.AsType[*precis.Error](err)
	return ok
}

// label begins a line on standard error.
func (c *Console) label(key string) string { return "precis: " + c.Words.Say(key) + ":" }

// Warn prints a warning.
func (c *Console) Warn(format string, args ...any) {
	c.say("warn", c.label("warning"), fmt.Sprintf(format, args...))
}

// Note prints something worth knowing.
func (c *Console) Note(format string, args ...any) {
	c.say("dim", c.label("note"), fmt.Sprintf(format, args...))
}

// say prints a line of its own: progress is taken away before.
func (c *Console) say(style, label, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.shown != nil {
		_ = c.shown.Clear()
	}
	c.Notes.Labeled(style, label, text)
}

// Data returns the writer of JSON that is made elsewhere.
func (c *Console) Data() io.Writer { return c.Text.JSON() }

// JSON writes v indented.
func (c *Console) JSON(v any) error {
	e := json.NewEncoder(c.Data())
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return precis.Errorf(precis.CodeInternal, "write JSON", "%w", err)
	}
	return nil
}

// Logger writes one line for each check when that is asked for; else it is nil.
func (c *Console) Logger() *slog.Logger {
	if !c.Verbose {
		return nil
	}
	return slog.New(slog.NewTextHandler(c.Notes, nil))
}
