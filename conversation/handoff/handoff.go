// Package handoff writes a brief for continuing the work of a conversation in a new thread or in
// another agent, in its format. Start with [Write].
package handoff

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/retain"
)

// Formats of a brief, see [Options]. They differ in headings, their order, and references to
// files.
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

// Options control a brief. The zero value writes one in Markdown.
type Options struct {
	Goal   string           // the next goal, at most 4000 bytes; "": the user's last request
	Format string           // one of [Formats]; "": [Markdown]
	Tokens int              // maximal size; 0: 2000; at least 200
	Count  func(string) int // counts the tokens of a text; nil: four characters per token
}

// Brief is the information needed to continue the work of a conversation.
type Brief struct {
	Conversation string `json:"conversation"`
	Format       string `json:"format"`
	Goal         string `json:"goal"`
	Tokens       int    `json:"tokens"` // size of Text
	Text         string `json:"brief"`
}

const (
	defaultBrief = 2000 // tokens
	leastBrief   = 200
	mostGoal     = 4000 // bytes
)

// Write writes a brief for a new thread or another agent, without a model: the goal, sentences of
// the user that may bind, the current request, the plan, replies and refusals of the user, files,
// newest results of commands, calls without a result, and how to read the originals. Each line
// names its source by a handle. Rewound messages are left out; messages hidden from the view are
// not. The error is [precis.CodeInvalid] for invalid options.
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
	w := briefWriter{style: style, count: o.Count, tokensLeft: o.Tokens}
	text := w.write(goal, f)
	return Brief{Conversation: s.Record.ID, Format: style.name, Goal: goal, Tokens: o.Count(text),
		Text: text}, nil
}

// check fills in defaults and returns the style of the format.
func (o *Options) check() (briefStyle, error) {
	const op = "read options"
	if o.Count == nil {
		o.Count = digest.EstimateTokens
	}
	o.Tokens = cmp.Or(o.Tokens, defaultBrief)
	switch {
	case o.Tokens < leastBrief:
		return briefStyle{}, precis.Errorf(precis.CodeInvalid, op, "tokens is %d, want %d or more", o.Tokens,
			leastBrief)
	case len(o.Goal) > mostGoal:
		return briefStyle{}, precis.Errorf(precis.CodeInvalid, op, "goal has %d bytes, at most %d are used",
			len(o.Goal), mostGoal)
	}
	name := cmp.Or(o.Format, Markdown)
	for _, s := range briefStyles {
		if s.name == name {
			return s, nil
		}
	}
	return briefStyle{}, &precis.Error{Code: precis.CodeInvalid, Op: op,
		Err: fmt.Errorf("format is %.40q", name), Hint: "use one of " + strings.Join(Formats(), ", ")}
}

// rulesOf returns the user's rules in the order of [retain.Fair]: the first of each message,
// newest message first, then the second of each, and so on.
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
