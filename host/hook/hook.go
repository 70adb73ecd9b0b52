// Package hook answers the events by which agent programs let others take part in a
// compaction: before it, with its summary, and after it. What a program's own summary
// lacks is given back from the recording; where a program lets it, the summary is
// precis's own. Start with [Run].
//
// A hook must never be what stops an agent. [Run] returns within its deadline, and with
// nothing to say it says nothing; why that was so is in the journal, see [Journal]. No
// model is called. What is remembered between events lies in one small file for each
// session, which holds words of the conversation and is readable by its owner alone; the
// journal holds none.
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

	"precis"
)

// Deadline is how long an answer may take, and CompactDeadline how long a compaction of Claude
// Code, which takes a model longer. Programs wait longer; what is not there in time is not given.
const (
	Deadline        = 5 * time.Second
	CompactDeadline = 15 * time.Second
)

// Silent is the variable of the environment that keeps hooks from saying anything: set by
// what sends an agent's requests through a gateway, which does the same work.
const Silent = "PRECIS_GATEWAY"

// maxInput is how much of an event is read, in bytes: programs without a recording hand
// over all messages.
const maxInput = 256 << 20

// Options are what hooks depend on.
type Options struct {
	State  string                 // folder of what is remembered; made when it is missing
	Binary string                 // path of precis, for what the model is told; "": precis
	Env    func(string) string    // nil: nothing is set
	Now    func() time.Time       // nil: time.Now
	Window func(model string) int // of a model, in tokens; nil, or 0: unknown
	// Find returns the recording of a program's session by its ID, for events that name none,
	// or one that is not there or of another session; "": there is none. Nil: nobody looks.
	Find func(host, session string) string

	deadline time.Duration // 0: Deadline, or CompactDeadline
}

// Call is one call of a hook.
type Call struct {
	Host  string // e.g. "claude-code"
	Event string // e.g. "session-start", see [Events]
	Args  []string
	In    io.Reader // what the program says of the event; nil: nothing
}

// handler answers an event.
type handler func(context.Context, *call) ([]byte, error)

// handlers are the events of each program.
var handlers = map[string]map[string]handler{
	"claude-code": {
		"pre-compact": note, "session-start": claudeStart, "post-compact": claudeCompacted, "pending": pending,
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

// Hosts returns the names of the programs whose events are answered.
func Hosts() []string { return slices.Sorted(maps.Keys(handlers)) }

// Events returns the events of a program that are answered; none for an unknown one.
func Events(host string) []string { return slices.Sorted(maps.Keys(handlers[host])) }

// call is a call that is being answered.
type call struct {
	Call
	o     Options
	input input
	raw   []byte
	entry Entry // what becomes of it
}

// errNothing is why nothing is said though nothing failed.
type errNothing string

func (e errNothing) Error() string { return string(e) }

// Run answers a call: with what is to be written to standard output, often nothing. It
// never fails, and returns within its deadline or when ctx ends. Calls may run at the same
// time, in this process or in others.
func Run(ctx context.Context, o Options, c Call) []byte {
	if o.Env == nil {
		o.Env = func(string) string { return "" }
	}
	if o.Now == nil {
		o.Now = time.Now
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
	go func() { // it may wait for its input, which knows no context
		r := result{entry: Entry{Host: c.Host, Event: c.Event}}
		defer func() { done <- r }()
		r.out, r.entry = answer(ctx, o, c)
	}()
	var r result
	select {
	case r = <-done:
		if c.Event == "pending" { // a run that is not done in time is not tried again soon
			_ = os.Remove(filepath.Join(o.State, busyFolder))
		}
	case <-ctx.Done():
		r.entry = Entry{Host: c.Host, Event: c.Event, Did: Failed, Why: notInTime}
	}
	if c.Host == "claude-code" && len(r.out) == 0 {
		r.out = excuse(c.Event, r.entry.Why)
	}
	if c.Host == "gemini" && len(r.out) == 0 {
		r.out = []byte("{}\n") // it wants JSON and nothing else
	}
	r.entry.Time, r.entry.Took = begun, o.Now().Sub(begun)
	if r.entry.Did != "" { // a hook with nothing to do leaves no trace
		journal(o.State).add(r.entry)
	}
	return r.out
}

// Why nothing comes of a recording that is too long.
const (
	tooLong   = "the recording is too long to be read while the agent waits"
	notInTime = "not done in time"
)

// excuse is what Claude Code shows the person in a line when precis has not compacted, or gives nothing back, since
// there was no time for it; nil for every other reason.
func excuse(event, why string) []byte {
	switch {
	case why != tooLong && why != notInTime:
	case event == "compact":
		return line(compaction{Why: why})
	case event == "session-start":
		return line(map[string]string{"systemMessage": "precis gives nothing back: " + why})
	}
	return nil
}

// answer answers a call. A panic is a failure like others: a damaged recording must not
// show a stack trace to a model.
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
		out, k.entry.Did, k.entry.Why = nil, Failed, reason(err)
	}
	return out, k.entry
}

// reason is an error in words that hold nothing of a conversation: what failed, and how.
func reason(err error) string {
	if e, ok := errors.AsType[*precis.Error](err); ok {
		return fmt.Sprintf("%s: %s", e.Op, e.Code)
	}
	return "a fault: " + fmt.Sprintf("%T", err)
}

// read reads what the program says.
func (c *call) read() error {
	if handlers[c.Host][c.Event] == nil {
		return errNothing("no such event")
	}
	if c.o.Env(Silent) != "" {
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
	c.entry.Session = short(c.input.Session)
	if c.input.Agent != "" {
		return errNothing("it is a sub-agent's")
	}
	return nil
}
