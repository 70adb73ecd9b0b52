package conversation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation/block"
	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/internal/preview"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/retain"
)

// DigestOptions say how a digest is written. The zero value writes one of
// [digest.DefaultTokens].
type DigestOptions struct {
	Tokens int              // size at most; 0: [digest.DefaultTokens]
	Focus  string           // the subject of one section of the digest, at most 2000 bytes; "": none
	Count  func(string) int // size of a text in tokens; nil: a token is four characters
}

// Digested is a summary written without a model, and the state it was written from.
type Digested struct {
	Conversation string       `json:"conversation"`
	Tokens       int          `json:"tokens"` // of the digest, as counted
	Text         string       `json:"digest"`
	State        digest.State `json:"state"`
}

// focusShare: the section about a focus takes at most one part in focusShare of a digest.
const focusShare = 3

// Digest writes a summary of a conversation without a model: requests, refusals, rules, files,
// commands, open work and the lines most likely to be needed again, each with its handle. With a
// focus, up to a third of it are lines about the focus. Messages that a rewind took back are left
// out; hidden messages are not. The error is [precis.CodeOverBudget] when the size is too small for
// any content.
func Digest(ctx context.Context, h Home, id string, o DigestOptions) (Digested, error) {
	if err := o.check(); err != nil {
		return Digested{}, err
	}
	s, err := snapshot(ctx, h, id)
	if err != nil {
		return Digested{}, err
	}
	if o.Count == nil {
		o.Count = digest.EstimateTokens
	}
	if o.Tokens == 0 {
		o.Tokens = digest.DefaultTokens
	}
	msgs := retain.WithoutRewound(s.Conversation.Transcript, s.Conversation.Edits)
	about, err := aboutFocus(ctx, msgs, o.Focus, o.Tokens/focusShare, o.Count)
	if err != nil {
		return Digested{}, err
	}
	written, err := digest.Writer{Count: o.Count}.Summarize(ctx, policy.SummaryRequest{
		Conversation: s.Conversation, Messages: msgs, MaxTokens: max(o.Tokens-o.Count(about), 1),
	})
	if err != nil {
		return Digested{}, err
	}
	if written.Text == "" {
		return Digested{}, &precis.Error{Code: precis.CodeOverBudget, Op: "write digest",
			Err: fmt.Errorf("nothing fits in %d tokens", o.Tokens), Hint: "allow a few hundred"}
	}
	text := written.Text + about
	return Digested{Conversation: s.Record.ID, Tokens: o.Count(text), Text: text,
		State: digest.StateOf(s.Conversation)}, nil
}

func (o DigestOptions) check() error {
	const op = "read options"
	if o.Tokens < 0 {
		return precis.Errorf(precis.CodeInvalid, op, "tokens is %d, want 0 or more", o.Tokens)
	}
	return checkFocus(op, o.Focus)
}

// GateOptions are the input of [Gate].
type GateOptions struct {
	Summary string           // by any author; not empty
	Tokens  int              // maximum size of the result; 0: the summary's size plus 1500
	Count   func(string) int // size of a text in tokens; nil: a token is four characters
}

// Gated is a summary completed by the gate.
type Gated struct {
	Conversation string   `json:"conversation"`
	Tokens       int      `json:"tokens"` // of the summary, as counted
	Text         string   `json:"summary"`
	Added        []string `json:"added"` // lines the gate added
	// facts likely to be needed again that did not fit
	Lost      []policy.LostAnchor `json:"lost,omitempty"`
	RulesLost []policy.LostAnchor `json:"rules_lost,omitempty"` // rules of the user that did not fit
	Retention policy.Retention    `json:"retention"`
}

// Gate checks a summary of a whole conversation and adds the facts that it lacks: the user's rules,
// the last request, written files, and the facts most likely to be needed again. The summary itself
// is not changed. The error is [precis.CodeOverBudget] when the summary alone exceeds the size.
func Gate(ctx context.Context, h Home, id string, o GateOptions) (Gated, error) {
	const op = "check summary"
	switch {
	case strings.TrimSpace(o.Summary) == "":
		return Gated{}, &precis.Error{Code: precis.CodeInvalid, Op: op,
			Err: errors.New("the summary is empty"), Hint: "a digest is a summary that no model wrote"}
	case o.Tokens < 0:
		return Gated{}, precis.Errorf(precis.CodeInvalid, "read options", "tokens is %d, want 0 or more",
			o.Tokens)
	}
	if o.Count == nil {
		o.Count = digest.EstimateTokens
	}
	if n := o.Count(o.Summary); o.Tokens > 0 && n > o.Tokens {
		return Gated{}, &precis.Error{Code: precis.CodeOverBudget, Op: op,
			Err:  fmt.Errorf("it has %d tokens, more than %d", n, o.Tokens),
			Hint: "a summary is never cut; allow for it and for what it may lack"}
	}
	s, err := snapshot(ctx, h, id)
	if err != nil {
		return Gated{}, err
	}
	return s.gated(o), nil
}

func (s *Subject) gated(o GateOptions) Gated {
	r := digest.Repair(policy.SummaryRequest{
		Conversation: s.Conversation,
		Messages:     retain.WithoutRewound(s.Conversation.Transcript, s.Conversation.Edits),
		Previous:     o.Summary, MaxTokens: o.Tokens,
	}, digest.RepairOptions{Count: o.Count})
	if r.Added == nil {
		r.Added = []string{}
	}
	return Gated{Conversation: s.Record.ID, Tokens: o.Count(r.Text), Text: r.Text, Added: r.Added,
		Lost: r.Lost, RulesLost: r.Rules, Retention: r.Retention}
}

// SummaryOptions say how a summary is written.
type SummaryOptions struct {
	DigestOptions
	Summarizer string            // [ByDigest] or [ByModel]; "": [ByDigest]
	Model      policy.Summarizer // required for [ByModel]
}

// Summarized is a summary that has passed the gate.
type Summarized struct {
	Gated
	By      string  `json:"by"` // [ByDigest] or [ByModel]
	CostUSD float64 `json:"cost_usd"`
}

// Summarize writes a summary of a conversation with or without a model and passes it through
// [Gate]. The view is not changed. Error codes: [precis.CodeOverBudget] when the size is too small
// for any content, [precis.CodeInvalid] for [ByModel] without a Model, and [precis.CodeUpstream]
// when the model fails.
func Summarize(ctx context.Context, h Home, id string, o SummaryOptions) (Summarized, error) {
	c := CondenseOptions{Focus: o.Focus, Summarizer: o.Summarizer}
	if err := cmp.Or(c.Check(), o.check()); err != nil {
		return Summarized{}, err
	}
	o.Tokens = cmp.Or(o.Tokens, digest.DefaultTokens)
	if o.Count == nil {
		o.Count = digest.EstimateTokens
	}
	s, err := snapshot(ctx, h, id)
	if err != nil {
		return Summarized{}, err
	}
	out := Summarized{By: cmp.Or(o.Summarizer, ByDigest)}
	var text string
	if out.By == ByModel {
		text, out.CostUSD, err = s.byModel(ctx, o)
	} else {
		var d Digested
		d, err = Digest(ctx, h, id, o.DigestOptions)
		text = d.Text
	}
	if err != nil {
		return Summarized{}, err
	}
	out.Gated = s.gated(GateOptions{Summary: text, Tokens: max(o.Tokens, o.Count(text)), Count: o.Count})
	return out, nil
}

// byModel has a model write the summary and leaves a quarter of the size for the gate's additions.
func (s *Subject) byModel(ctx context.Context, o SummaryOptions) (text string, cost float64, err error) {
	if o.Model == nil {
		return "", 0, &precis.Error{Code: precis.CodeInvalid, Op: "choose summarizer",
			Err: errors.New("no model writes summaries"), Hint: "configure one, or use digest"}
	}
	msgs := retain.WithoutRewound(s.Conversation.Transcript, s.Conversation.Edits)
	sum, err := o.Model.Summarize(ctx,
		policy.SummaryRequest{Conversation: s.Conversation, Messages: msgs, MaxTokens: o.Tokens * 3 / 4,
			Focus: o.Focus, Count: o.Count})
	if err != nil {
		if code := precis.CodeOf(err); code == precis.CodeInternal {
			err = &precis.Error{Code: precis.CodeUpstream, Op: "write summary", Err: err,
				Hint: "use digest, which calls no model"}
		}
		return "", 0, err
	}
	return sum.Text, sum.CostUSD, nil
}

// snapshot returns a conversation as it is now. Its meter must not be used.
func snapshot(ctx context.Context, h Home, id string) (Subject, error) {
	return look(ctx, h, id, func(s *Subject) (Subject, error) { return *s, nil })
}

// mostFocus is the longest focus, in bytes.
const mostFocus = 2000

func checkFocus(op, focus string) error {
	if len(focus) > mostFocus {
		return precis.Errorf(precis.CodeInvalid, op, "focus has %d bytes, at most %d are used", len(focus),
			mostFocus)
	}
	return nil
}

// focusLine is a line that contains words of a focus.
type focusLine struct {
	at    precis.Handle
	text  string
	has   uint64 // bit set: the indexes of the words
	score float64
}

// aboutFocus returns a section, within a number of tokens, of the lines that match a focus best.
// Rare words weigh more; among equals newer lines win. It is "" without a focus or a matching line.
func aboutFocus(ctx context.Context, msgs []precis.Message, focus string, tokens int,
	count func(string) int) (string, error) {
	words := focusWords(focus)
	if len(words) == 0 {
		return "", nil
	}
	lines, err := linesWith(ctx, msgs, words)
	if err != nil || len(lines) == 0 {
		return "", err
	}
	weigh(lines, len(words))
	slices.SortStableFunc(lines, func(a, b focusLine) int {
		return cmp.Or(cmp.Compare(b.score, a.score),
			b.at.From-a.at.From)
	})
	title := "\n\n## About " + preview.Line(focus, 80) + "\n"
	tokens -= count(title)
	seen := map[string]bool{}
	var kept []focusLine
	for _, l := range lines {
		if n := count(l.String()); n <= tokens && !seen[l.text] {
			seen[l.text] = true
			kept, tokens = append(kept, l), tokens-n
		}
	}
	if len(kept) == 0 {
		return "", nil
	}
	slices.SortStableFunc(kept, func(a, b focusLine) int {
		return cmp.Or(a.at.From-b.at.From,
			a.at.Block-b.at.Block)
	})
	var out strings.Builder
	for _, l := range kept {
		out.WriteString(l.String())
	}
	return title + strings.TrimRight(out.String(), "\n"), nil
}

// String returns the line as a digest writes it.
func (l focusLine) String() string { return fmt.Sprintf("- %s: %s\n", l.at, l.text) }

// focusWords returns the words of a focus in lower case, at most 64.
func focusWords(focus string) []string {
	var out []string
	apart := func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(`,;:!?"'()[]{}<>`, r) || r == utf8.RuneError
	}
	for _, w := range strings.FieldsFunc(strings.ToLower(focus), apart) {
		w = strings.Trim(w, ".")
		letter := len(w) == 1 && unicode.IsLetter(rune(w[0])) // it is in every line
		if w != "" && !letter && len(out) < 64 && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// linesWith returns the lines that contain any of the words.
func linesWith(ctx context.Context, msgs []precis.Message, words []string) ([]focusLine, error) {
	var out []focusLine
	for i, m := range msgs {
		if err := ctx.Err(); err != nil {
			return nil, precis.Errorf(precis.CodeCanceled, "write digest", "%w", context.Cause(ctx))
		}
		for b, one := range m.Content {
			if _, thought := one.(precis.Thinking); thought {
				continue
			}
			text := block.Text(one)
			lower := strings.ToLower(text)
			if !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(lower, w) }) {
				continue
			}
			for line := range strings.Lines(text) {
				if has := wordsIn(strings.ToLower(line), words); has != 0 {
					out = append(out, focusLine{at: precis.BlockHandle(i, b), text: around(line, words),
						has: has})
				}
			}
		}
	}
	return out, nil
}

func wordsIn(line string, words []string) (has uint64) {
	for k, w := range words {
		if strings.Contains(line, w) {
			has |= 1 << k
		}
	}
	return has
}

// around returns a line; if it is long, the part around the first word.
func around(line string, words []string) string {
	const most = 240
	if len(line) > most {
		lower := strings.ToLower(line)
		for _, w := range words {
			if at := strings.Index(lower, w); at > most/2 && len(lower) == len(line) {
				line = strings.ToValidUTF8(line[at-most/2:], "")
				break
			}
		}
	}
	return preview.Line(line, most)
}

// weigh scores lines: each word weighs more the rarer it is among the lines.
func weigh(lines []focusLine, words int) {
	in := make([]int, words)
	for _, l := range lines {
		for k := range words {
			if l.has>>k&1 == 1 {
				in[k]++
			}
		}
	}
	for i := range lines {
		for k := range words {
			if lines[i].has>>k&1 == 1 {
				lines[i].score += 1 + math.Log(float64(len(lines))/float64(in[k]))
			}
		}
	}
}
