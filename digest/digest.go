// Package digest writes summaries without a model, and adds to the summaries of others what they
// lack.
//
// [Writer] makes a digest of messages. [Rung] and [MoreRung] are the rungs of the ladder that replace
// the oldest messages by one; size and boundary are chosen so that the view keeps the most worth.
// [Gate] reads every edit that hides messages, whoever wrote its text, and adds facts that are
// missing and likely to be needed; [Repair] does so for a text alone. The same conversation gives
// the same digest.
package digest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/digest/effects"
	"github.com/precis-dev/precis/digest/requests"
	"github.com/precis-dev/precis/internal/plain"
	"github.com/precis-dev/precis/internal/toolcall"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/retain"
	"github.com/precis-dev/precis/verify"
	"github.com/precis-dev/precis/workstate"
)

// Writer writes summaries without a model, from the conversation itself: the
// user's requests, word for word as far as the size allows; rules; files and
// what happened to them; commands and their outcome; errors; open calls; the
// plan; the agent's last text; and then the lines and names most likely to be
// needed again, each with the handle of its message. The same conversation
// gives the same digest. The zero value is ready; it is safe for concurrent
// use.
type Writer struct {
	// Count returns the size of a text in tokens; nil: a token is four characters.
	Count func(string) int
	// Handle says how the text names a message of the request; nil: m12 for the twelfth
	// of the transcript.
	Handle func(message int) string
	// Brief writes few single lines of results, and no calls of tools that are neither commands nor
	// files: for readers who have a summary by a model beside the digest.
	Brief bool
}

// DefaultTokens is the size of a digest when the request states none.
const DefaultTokens = 3500

// Summarize writes the digest of r.Messages. r.MaxTokens is its size at most; 0
// means [DefaultTokens]. It fails only if the context has ended.
func (w Writer) Summarize(ctx context.Context, r policy.SummaryRequest) (policy.Summary, error) {
	if err := ctx.Err(); err != nil {
		return policy.Summary{}, precis.Errorf(precis.CodeCanceled, "write digest", "%w", context.Cause(ctx))
	}
	started := time.Now()
	in := inputOf(r, w.Count, w.Handle)
	in.tokens, in.previous, in.brief = r.MaxTokens, r.Previous, w.Brief
	return policy.Summary{Text: in.digest(), Took: time.Since(started)}, nil
}

// input is the data for a digest.
type input struct {
	x        *retain.Index
	worth    []float64
	reuse    *retain.ReusePredictor
	copies   *retain.LineSet
	cover    *retain.Coverage // content that the view shows outside the digest
	messages []precis.Message
	covered  func(message int) bool   // whether the digest replaces the message
	offset   int                      // added to message numbers in handles
	named    func(message int) string // nil: by their numbers
	count    func(string) int
	tokens   int
	base     string // directory that is omitted from paths
	onlyNew  bool   // lines must name something that is not shown yet
	bare     int    // percent of the index for names without their lines
	// most tokens for the user's words, if more than their share of tokens
	userTokens int
	previous   string // a summary of the messages before these
	// the message text that previous was found in; -1: the caller supplied it
	older  int
	shown  string        // see RepairOptions
	brief  bool          // see Writer
	others func() string // all words the view shows outside the text being checked
	// further text to compare with: the system prompt, the state of the client's program
	sources     string
	written     passage                   // the digest so far, before its lines
	workReading func() *workstate.Reading // the work state of messages; nil: read on first use
	// whether the view shows an item in force outside the digest; nil: never
	carried  func(precis.Handle) bool
	read     *record         // of the whole conversation, see record; nil: not read yet
	compared *verify.History // see verifyPast; nil: not read yet

	// lines returns the lines of a text that are already split; nil: there are none.
	lines func(text int, at layout) (lines []retain.Piece, ok bool)
}

// inputOf returns the input for a text that replaces all messages of a request. A nil count
// means that a token is four characters.
func inputOf(r policy.SummaryRequest, count func(string) int, named func(message int) string) *input {
	system := ""
	if r.Conversation != nil {
		system = r.Conversation.System.PlainText()
	}
	if count == nil {
		count = EstimateTokens
	}
	x := retain.Read(system, r.Messages)
	worth := x.Worths()
	return &input{
		x: x, worth: worth, reuse: x.NewReusePredictor(worth), copies: retain.NewLineSet(),
		cover:    x.NewCoverage(),
		messages: r.Messages,
		offset:   r.From, covered: func(int) bool { return true }, count: count, named: named,
		sources: system,
	}
}

// hasLaterMessages reports whether messages follow those that the digest replaces.
func (in *input) hasLaterMessages() bool {
	return len(in.messages) > 0 && !in.covered(len(in.messages)-1)
}

// record returns the texts and events of the whole conversation.
func (in *input) record() *record {
	if in.read == nil {
		in.read = recordOf(in.x.Calls, in.messages, in.workReading)
	}
	return in.read
}

// Reading returns the effects of the calls of the whole conversation.
func (in *input) work() *effects.Reading { return in.record().work }

func (in *input) handle(message int) string {
	if in.named != nil {
		return in.named(message)
	}
	return precis.MessageHandle(message + in.offset).String()
}

// digest writes the text.
func (in *input) digest() string {
	if in.tokens <= 0 {
		in.tokens = DefaultTokens
	}
	in.bare = layoutFor(in.tokens, in.hasLaterMessages()).bare
	in.findOlder()
	if in.older >= 0 && isDigestText(in.previous) && in.sizeWithoutSummary() == 0 {
		head, rest, _ := strings.Cut(strings.TrimSpace(in.previous), "\n")
		if whole := digestHead + plain.Text(strings.TrimPrefix(head, digestHead)) + "\n" +
			plain.Text(rest); in.count(whole) <= in.tokens {
			return whole // a digest of a digest alone is that digest
		}
	}
	files := in.work().FilesOf(in.covered)
	in.base = effects.RootOf(files)
	d := &draft{count: in.count, tokensLeft: in.tokens}
	in.sections(d, files)
	in.cover.AddText(d.String())
	in.facts(d)
	return strings.TrimSpace(d.String())
}

// EstimateTokens returns the tokens of a text at four characters a token.
func EstimateTokens(text string) int { return (utf8.RuneCountInString(text) + 3) / 4 }

// draft is a text that is written under a budget.
type draft struct {
	strings.Builder
	count      func(string) int
	tokensLeft int // tokens
}

// add writes s if it fits.
func (d *draft) add(s string) bool {
	n := d.count(s)
	if n > d.tokensLeft {
		return false
	}
	d.tokensLeft -= n
	d.WriteString(s)
	return true
}

// section writes a title and as many lines as fit into most tokens. It returns the number of lines
// written. Lines must be ordered by importance.
func (d *draft) section(title string, lines []string, most int) int {
	most = min(most, d.tokensLeft)
	used := d.count(title) + 1
	n := 0
	var kept []string
	for _, l := range lines {
		c := d.count(l) + 1
		if used+c > most {
			continue
		}
		used += c
		kept = append(kept, l)
		n++
	}
	if n == 0 {
		return 0
	}
	d.tokensLeft -= used
	fmt.Fprintf(d, "\n%s\n%s\n", title, strings.Join(kept, "\n"))
	return n
}

// listed counts the tokens of names written in a row.
func (d *draft) listed(names []string) int {
	n := 0
	for _, name := range names {
		n += d.count(name + ", ")
	}
	return n
}

// record holds the texts and events of a conversation. Digests of the same conversation share it,
// so it must not change.
type record struct {
	work  *effects.Reading
	said  []requests.Request        // by persons
	holds func() *workstate.Reading // the work state
}

// recordOf reads a conversation. holds returns its work state; nil: recordOf reads it on first use.
func recordOf(calls []toolcall.Call, msgs []precis.Message, holds func() *workstate.Reading) *record {
	if holds == nil {
		holds = sync.OnceValue(func() *workstate.Reading { return workstate.Read(msgs, calls) })
	}
	return &record{work: effects.Read(calls, msgs, holds().Jobs), said: requests.Of(msgs), holds: holds}
}
