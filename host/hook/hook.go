// Package hook answers: what does precis do when an agent program compacts a conversation? It
// handles the program's events before and after a compaction. It gives back from the recording the
// facts that the program's summary lacks. Where a program allows it, precis writes the summary
// itself. Start with [Run].
//
// A hook must never stop an agent. [Run] returns within its deadline, and its output may be empty;
// the reason is in the journal, see [Journal]. No model is called. State between events is one
// small file per session. It contains words of the conversation and only its owner can read it; the
// journal contains no such words.
package hook

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/window"
)

// Deadline is the longest time for an answer, and CompactDeadline for a compaction of Claude Code,
// where a model would take longer. Programs wait longer than that. Late results are dropped.
const (
	Deadline        = 5 * time.Second
	CompactDeadline = 15 * time.Second
)

// SilenceEnv is the environment variable that silences hooks. It is set by launchers that send an
// agent's requests through a gateway, which does the same work.
const SilenceEnv = "PRECIS_GATEWAY"

// maxInput is the most bytes read of an event. Programs without a recording pass all messages.
const maxInput = 256 << 20

// Options are the dependencies of hooks.
type Options struct {
	State  string                           // folder for state; created if missing
	Binary string                           // path of precis in texts for the model; "": precis
	Env    func(string) string              // nil: no variable is set
	Now    func() time.Time                 // nil: time.Now
	Window func(model string) precis.Window // context window of a model; nil: unknown
	// Find returns the recording of a program's session by its ID, or "". It is used when an event
	// names no file, a missing one, or one of another session. Nil: no search.
	Find func(host, session string) string

	deadline time.Duration // 0: Deadline, or CompactDeadline
}

// Call is one call of a hook.
type Call struct {
	Host  string // e.g. "claude-code"
	Event string // e.g. "session-start", see [Events]
	Args  []string
	In    io.Reader // the program's description of the event; nil: empty
}

// handler answers an event.
type handler func(context.Context, *call) ([]byte, error)

// handlers are the events of each program.
var handlers = map[string]map[string]handler{
	"claude-code": {
		"pre-compact": note, "session-start": claudeStart, "post-compact": claudeCompacted,
		"pending": pending,
		"compact": claudeView, "loaded": claudeLoaded,
	},
	"codex":    {"session-start": codexStart},
	"qwen":     {"pre-compact": qwenBefore, "post-compact": qwenCompacted, "session-start": qwenStart},
	"gemini":   {"pending": geminiPending},
	"opencode": {"digest": opencodeDigest, "gate": opencodeGate},
	"pi":       {"digest": piDigest, "view": piView},
	"cline":    {"view": clineView},
	"hermes":   {"assemble": hermesAssemble, "expand": hermesExpand},
}

// Hosts returns the names of the supported programs.
func Hosts() []string { return slices.Sorted(maps.Keys(handlers)) }

// Events returns the supported events of a program; none for an unknown one.
func Events(host string) []string { return slices.Sorted(maps.Keys(handlers[host])) }

// call is a call that is being answered.
type call struct {
	Call
	o     Options
	input input
	raw   []byte
	entry Entry // the outcome, for the journal
}

// errNothing is the reason for an empty answer without a failure.
type errNothing string

func (e errNothing) Error() string { return string(e) }

// Run answers a call with the bytes for standard output, which are often empty. It never fails, and
// returns within its deadline or when ctx ends. Calls may run concurrently, also in several
// processes.
func Run(ctx context.Context, o Options, c Call) []byte {
	if o.Env == nil {
		o.Env = func(string) string { return "" }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Window == nil {
		o.Window = func(string) precis.Window { return window.Known{}.Window() }
	}
	begun := o.Now()
	if c.Event == "compact" {
		o.deadline = cmp.Or(o.deadline, CompactDeadline)
	}
	o.deadline = cmp.Or(o.deadline, Deadline)
	ctx, cancel := context.WithTimeout(ctx, o.deadline)
	defer cancel()
	type result struct {
		entry Entry
		out   []byte
	}
	done := make(chan result, 1)
	go func() { // reading the input may block and ignores the context
		r := result{entry: Entry{Host: c.Host, Event: c.Event}}
		defer func() { done <- r }()
		r.out, r.entry = answer(ctx, o, c)
	}()
	var r result
	select {
	case r = <-done:
		if c.Event == "pending" { // busyFolder stays, so that the slow run is not repeated soon
			_ = os.Remove(filepath.Join(o.State, busyFolder))
		}
	case <-ctx.Done():
		r.entry = Entry{Host: c.Host, Event: c.Event, Did: Failed, Why: notInTime}
	}
	if c.Host == "claude-code" && len(r.out) == 0 {
		r.out = timeoutNotice(c.Event, r.entry.Why)
	}
	if c.Host == "gemini" && len(r.out) == 0 {
		r.out = []byte("{}\n") // Gemini CLI accepts only JSON
	}
	r.entry.Time, r.entry.Took = begun, o.Now().Sub(begun)
	if r.entry.Did != "" { // calls without work are not recorded
		journal(o.State).add(r.entry)
	}
	return r.out
}

// Reasons why a long recording is not processed.
const (
	tooLong   = "the recording is too long to be read while the agent waits"
	notInTime = "not done in time"
)

// timeoutNotice returns the line that Claude Code shows the person when precis had no time to compact or
// to give facts back; nil for every other reason.
func timeoutNotice(event, why string) []byte {
	switch {
	case why != tooLong && why != notInTime:
	case event == "compact":
		return line(compaction{Why: why})
	case event == "session-start":
		return line(map[string]string{"systemMessage": "precis gives nothing back: " + why})
	}
	return nil
}

// answer answers a call. It recovers from panics: a damaged recording must not show a stack trace
// to a model.
func answer(ctx context.Context, o Options, c Call) (out []byte, entry Entry) {
	k := &call{Call: c, o: o, entry: Entry{Host: c.Host, Event: c.Event}}
	defer func() {
		entry = k.entry
		if p := recover(); p != nil {
			out, entry.Did, entry.Why = nil, Failed, fmt.Sprintf("a fault of precis: %T", p)
		}
	}()
	err := k.read()
	if err == nil {
		out, err = handlers[c.Host][c.Event](ctx, k)
	}
	var nothing errNothing
	switch {
	case errors.As(err, &nothing):
		out, k.entry.Why = nil, string(nothing)
		if k.entry.Did = Nothing; nothing == "" {
			k.entry.Did = ""
		}
	case err != nil:
		out, k.entry.Did, k.entry.Why = nil, Failed, errorSummary(err)
	}
	return out, k.entry
}

// errorSummary describes an error by operation and code, without words of a conversation.
func errorSummary(err error) string {
	if e, ok := errors.AsType[*precis.Error](err); ok {
		return fmt.Sprintf("%s: %s", e.Op, e.Code)
	}
	return "a fault: " + fmt.Sprintf("%T", err)
}

// read reads the program's input.
func (c *call) read() error {
	if handlers[c.Host][c.Event] == nil {
		return errNothing("no such event")
	}
	if c.o.Env(SilenceEnv) != "" {
		return errNothing("a gateway does the work")
	}
	if c.In == nil {
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(c.In, maxInput+1))
	switch {
	case err != nil:
		return errNothing("its input cannot be read")
	case len(data) > maxInput:
		return errNothing("its input is too long")
	}
	c.raw = bytes.TrimSpace(data)
	c.input = parse(c.raw)
	c.entry.Session = sessionHash(c.input.Session)
	if c.input.Agent != "" {
		return errNothing("it is a sub-agent's")
	}
	return nil
}
