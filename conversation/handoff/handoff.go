// Package handoff writes what somebody who goes on with the work of a conversation needs
// to know: a brief for a new thread or another agent, in its format. Start with [Write].
package handoff

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"precis"
	"precis/conversation"
	"precis/digest"
	"precis/retain"
)

// Formats of a brief, see [Options]: how headings are written, in which order,
// and how an agent mentions files.
const (
	Markdown   = "markdown"
	ClaudeCode = "claude-code"
	Codex      = "codex"
	Cline      = "cline" // the five headings of its new_task tool
	Roo        = "roo"
)

// Formats returns the formats of a brief, the default first.
func Formats() []string {
	out := make([]string, len(briefStyles))
	for i, s := range briefStyles {
		out[i] = s.name
	}
	return out
}

// Options say how a brief is written. The zero value writes one in Markdown.
type Options struct {
	Goal   string           // what is to be done next, at most 4000 bytes; "": the user's last request
	Format string           // see [Formats]; "": [Markdown]
	Tokens int              // size at most; 0: 2000; at least 200
	Count  func(string) int // size of a text in tokens; nil: a token is four characters
}

// Brief is what somebody who goes on with the work of a conversation needs to know.
type Brief struct {
	Conversation string `json:"conversation"`
	Format       string `json:"format"`
	Goal         string `json:"goal"`
	Tokens       int    `json:"tokens"` // of the text, as counted
	Text         string `json:"brief"`
}

const (
	defaultBrief = 2000 // tokens
	leastBrief   = 200
	mostGoal     = 4000 // bytes
)

// Write writes a brief for a new thread or another agent, without a model: the goal,
// sentences of the user that may bind, the current request, the plan, replies and refusals
// of the user, files, newest results of commands, what is waited for, and where to read the
// originals. Each line names its source by a handle. What a rewind took back is left
// out; what the view hides is not. The error is [precis.CodeInvalid] for options that
// make no sense.
func Write(ctx context.Context, h conversation.Home, id string, o Options) (Brief, error) {
	style, err := o.check()
	if err != nil {
		return Brief{}, err
	}
	var s conversation.Subject
	err = h.Look(ctx, id, func(now *conversation.Subject) error {
		s = *now
		return nil
	})
	if err != nil {
		return Brief{}, err
	}
	f, err := factsOf(ctx, &s, style)
	if err != nil {
		return Brief{}, err
	}
	goal := strings.TrimSpace(o.Goal)
	if goal == "" {
		goal = f.goal
	}
	w := briefWriter{style: style, count: o.Count, left: o.Tokens}
	text := w.write(goal, f)
	return Brief{Conversation: s.Record.ID, Format: style.name, Goal: goal, Tokens: o.Count(text), Text: text}, nil
}

// check fills in defaults and returns the style of the format.
func (o *Options) check() (briefStyle, error) {
	const op = "read options"
	if o.Count == nil {
		o.Count = digest.Estimate
	}
	o.Tokens = cmp.Or(o.Tokens, defaultBrief)
	switch {
	case o.Tokens < leastBrief:
		return briefStyle{}, precis.Errorf(precis.CodeInvalid, op, "tokens is %d, want %d or more", o.Tokens, leastBrief)
	case len(o.Goal) > mostGoal:
		return briefStyle{}, precis.Errorf(precis.CodeInvalid, op, "goal has %d bytes, at most %d are used", len(o.Goal), mostGoal)
	}
	name := cmp.Or(o.Format, Markdown)
	for _, s := range briefStyles {
		if s.name == name {
			return s, nil
		}
	}
	return briefStyle{}, &precis.Error{Code: precis.CodeInvalid, Op: op, Err: fmt.Errorf("format is %.40q", name), Hint: "use one of " + strings.Join(Formats(), ", ")}
}

// rulesOf returns the sentences in which the user set rules, those of the newest
// messages first.
func rulesOf(ctx context.Context, msgs []precis.Message) ([]retain.Rule, error) {
	if err := ctx.Err(); err != nil {
		return nil, precis.Errorf(precis.CodeCanceled, "write brief", "%w", context.Cause(ctx))
	}
	rules := retain.RulesOf(msgs)
	var order []retain.Rule
	retain.Fair(rules, func(r retain.Rule) bool {
		order = append(order, r)
		return true
	})
	return order, nil
}
