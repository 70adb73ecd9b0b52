// Package console answers how a command reads input and writes output. Text for people goes through
// [Console.Text] and [Console.Notes], which protect a terminal from control characters in
// recordings; JSON goes through [Console.JSON] and [Console.Data]. Start with [New].
package console

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/pflag"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/term"
	"github.com/precis-dev/precis/internal/texts"
)

// Streams are the standard streams of a process, with the kinds of their targets.
type Streams struct {
	In            io.Reader
	Out, Errs     io.Writer
	OutTo, ErrsTo term.Options
	Lang          string // language for people, see texts.Languages; "": the default
}

// Standard returns the streams of this process.
func Standard(env func(string) string) Streams {
	return Streams{In: os.Stdin, Out: os.Stdout, Errs: os.Stderr, OutTo: term.Detect(os.Stdout, env),
		ErrsTo: term.Detect(os.Stderr, env), Lang: LanguageOf(env)}
}

// Console writes the output of a command. It is safe for concurrent use once its flags are set.
type Console struct {
	Streams              // the bare streams, for child processes
	Text    *term.Writer // results, to standard output
	Notes   *term.Writer // warnings, errors and progress, to standard error
	Words   *Words       // the user's language

	mu    sync.Mutex               // guards shown; held while a line is printed
	shown *progressbar.ProgressBar // progress bar on the last line; nil: none

	// Flags that all commands share.
	AsJSON, Quiet, Verbose, Raw bool
	lang                        string
}

// New returns a console over streams.
func New(s Streams) *Console {
	return &Console{Streams: s, Text: term.New(s.Out, s.OutTo), Notes: term.New(s.Errs, s.ErrsTo),
		Words: &Words{Lang: s.Lang}}
}

// Register defines the flags. Call [Console.Begin] after parsing them.
func (c *Console) Register(f *pflag.FlagSet) {
	f.BoolVar(&c.AsJSON, "json", false, "print JSON")
	f.BoolVarP(&c.Quiet, "quiet", "q", false, "print no progress and no warnings")
	f.BoolVarP(&c.Verbose, "verbose", "v", false,
		"print the arithmetic behind a result, and log each check to standard error")
	f.StringVar(&c.lang, "lang", "",
		"`LANGUAGE` of what is printed for people: "+strings.Join(texts.Languages(), ", ")+
			" (default that of LANG)")
	f.BoolVar(&c.Raw, "raw", false, "on a terminal, print control characters of a recording as they are")
}

// Begin applies the flags to the streams. The error is [precis.CodeInvalid] for an unknown
// language.
func (c *Console) Begin() error {
	if c.Raw {
		c.Text.Raw()
		c.Notes.Raw()
	}
	if c.lang == "" {
		return nil
	}
	lang, ok := texts.Language(c.lang)
	if !ok {
		return precis.Errorf(precis.CodeInvalid, "choose language", "--lang is %.20q, want one of %s", c.lang,
			strings.Join(texts.Languages(), ", "))
	}
	c.Words = &Words{Lang: lang}
	return nil
}

// Close flushes the output.
func (c *Console) Close() error { return errors.Join(c.Text.Flush(), c.Notes.Flush()) }

// failure is an error as JSON.
type failure struct {
	Error struct {
		Code    string `json:"code"` // a precis.Code, or "usage" for the command line
		Message string `json:"message"`
		Hint    string `json:"hint,omitempty"`
	} `json:"error"`
}

// Fail prints an error as [Words.Problem] words it. Hint says what the user can do; "": unknown.
// With --json, the error is one untranslated object on a line of standard error.
func (c *Console) Fail(err error, hint string) {
	if c.AsJSON {
		var f failure
		f.Error.Code, f.Error.Message, f.Error.Hint = "usage", err.Error(), hint
		if IsOwn(err) {
			f.Error.Code = string(precis.CodeOf(err))
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.shown != nil {
			_ = c.shown.Clear()
		}
		e := json.NewEncoder(c.Notes.JSON())
		e.SetEscapeHTML(false)
		_ = e.Encode(f) // fails only if standard error is closed
		return
	}
	c.say("bad", c.label("error"), c.Words.Problem(err))
	if hint != "" {
		c.say("dim", c.label("hint"), c.Words.Sentence(hint))
	}
}

// IsOwn reports whether an error is from precis, not from parsing the command line.
func IsOwn(err error) bool {
	_, ok := errors.AsType[*precis.Error](err)
	return ok
}

// label begins a line on standard error.
func (c *Console) label(key string) string { return "precis: " + c.Words.Say(key) + ":" }

// sentence translates a message, including string arguments that are sentences of the engine.
func (c *Console) sentence(format string, args []any) string {
	args = slices.Clone(args)
	for i, a := range args {
		if s, ok := a.(string); ok {
			args[i] = c.Words.Sentence(s)
		}
	}
	return c.Words.Sentence(c.Words.Text(format, args...))
}

// Pairs prints names and values in two columns, the names translated.
func (c *Console) Pairs(rows ...[2]string) { c.Text.Pairs(c.Named(rows...)...) }

// Named returns pairs with their names translated.
func (c *Console) Named(rows ...[2]string) [][2]string {
	out := make([][2]string, len(rows))
	for i, r := range rows {
		out[i] = [2]string{c.Words.Text(r[0]), r[1]}
	}
	return out
}

// Line prints a translated sentence on a line of its own, wrapped to the terminal.
func (c *Console) Line(english string, args ...any) {
	c.Text.Headline("", c.Words.Text(english, args...))
}

// Warn prints a warning.
func (c *Console) Warn(format string, args ...any) {
	c.say("warn", c.label("warning"), c.sentence(format, args))
}

// Note prints useful information.
func (c *Console) Note(format string, args ...any) {
	c.say("dim", c.label("note"), c.sentence(format, args))
}

// say prints a line of its own; it removes progress first.
func (c *Console) say(style, label, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.shown != nil {
		_ = c.shown.Clear()
	}
	c.Notes.Labeled(style, label, text)
}

// Data returns a writer for finished JSON.
func (c *Console) Data() io.Writer { return c.Text.JSON() }

// JSON writes v indented.
func (c *Console) JSON(v any) error {
	e := json.NewEncoder(c.Data())
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if list := reflect.ValueOf(v); list.Kind() == reflect.Slice && list.IsNil() {
		v = []any{} // an empty list encodes as [], not null
	}
	if err := e.Encode(v); err != nil {
		return precis.Errorf(precis.CodeInternal, "write JSON", "%w", err)
	}
	return nil
}

// Logger returns a logger with one line for each check, with --verbose; else nil.
func (c *Console) Logger() *slog.Logger {
	if !c.Verbose {
		return nil
	}
	return slog.New(slog.NewTextHandler(c.Notes, nil))
}
