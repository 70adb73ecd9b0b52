package condense

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"precis"
	"precis/retain"
)

// Digest writes summaries without a model, from the conversation itself: what
// the user asked, word for word as far as the size allows; rules; files and what
// happened to them; commands and their outcome; errors; open calls; the plan;
// the agent's last words; and then the lines and names most likely to be needed
// again, each with the handle of its message. The same conversation gives the
// same digest. The zero value is ready; it is safe for concurrent use.
type Digest struct {
	// Count returns the size of a text in tokens; nil: a token is four characters.
	Count func(string) int
}

// DefaultTokens is the size of a digest when no other is asked for.
const DefaultTokens = 3500

// Summarize writes the digest of r.Messages. r.MaxTokens is its size at most; 0
// means [DefaultTokens]. It never fails but for a context that ended.
func (d Digest) Summarize(ctx context.Context, r precis.SummaryRequest) (precis.Summary, error) {
	if err := ctx.Err(); err != nil {
		return precis.Summary{}, precis.Errorf(precis.CodeCanceled, "write digest", "%w", context.Cause(ctx))
	}
	started := time.Now()
	system := ""
	if r.Conversation != nil {
		system = r.Conversation.System.PlainText()
	}
	x := retain.Read(system, r.Messages)
	worth := x.Worths()
	in := input{
		x: x, worth: worth, reuse: x.Reuser(worth), copies: retain.NewCopies(), cover: x.Cover(), count: d.Count, tokens: r.MaxTokens, offset: r.From,
		covered: func(int) bool { return true }, messages: r.Messages, previous: r.Previous,
	}
	return precis.Summary{Text: in.digest(), Took: time.Since(started)}, nil
}

// input is what a digest is made from.
type input struct {
	x        *retain.Index
	worth    []float64
	reuse    *retain.Reuser
	copies   *retain.Copies
	cover    *retain.Coverage // what the view shows beside the digest
	messages []precis.Message
	covered  func(message int) bool // whether the digest stands for it
	offset   int                    // added to message numbers in handles
	count    func(string) int
	tokens   int
	base     string // directory left out of paths
	onlyNew  bool   // lines must name something that is not shown yet
	bare     int    // percent of the index for names without their lines
	asked    int    // tokens for the user's words at most; at least two fifths
	previous string
	others   func() string // all words the view shows beside the text in hand
}

func (in *input) handle(message int) string {
	return precis.MessageHandle(message + in.offset).String()
}

// digest writes the text.
func (in *input) digest() string {
	if in.count == nil {
		in.count = chars4
	}
	if in.tokens <= 0 {
		in.tokens = DefaultTokens
	}
	d := &draft{count: in.count, left: in.tokens}
	in.bare = layoutFor(in.tokens).bare
	st := in.story()
	in.base = in.root(st.files)
	in.sections(d, st)
	in.cover.String(d.String())
	in.facts(d)
	return strings.TrimSpace(d.String())
}

func chars4(s string) int { return (utf8.RuneCountInString(s) + 3) / 4 }

// draft is a text that is written under a budget.
type draft struct {
	strings.Builder
	count func(string) int
	left  int // tokens
}

// add writes s if it fits.
func (d *draft) add(s string) bool {
	n := d.count(s)
	if n > d.left {
		return false
	}
	d.left -= n
	d.WriteString(s)
	return true
}

// section writes a title and as many lines as fit in share of what is left; it
// returns how many it wrote. Lines must be in the order of what matters most.
func (d *draft) section(title string, lines []string, most int) int {
	most = min(most, d.left)
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
	d.left -= used
	fmt.Fprintf(d, "\n%s\n%s\n", title, strings.Join(kept, "\n"))
	return n
}

// newest returns those of the lines that fit in so many tokens, the last ones
// first of all, in their order.
func (d *draft) newest(lines []string, most int) []string {
	var out []string
	for _, l := range slices.Backward(lines) {
		if c := d.count(l) + 1; c <= most {
			most -= c
			out = append(out, l)
		}
	}
	slices.Reverse(out)
	return out
}

// fitted cuts a user's text, or a summary, to so many tokens as [retain.Shorten]
// does; "" when there is no room.
func fitted(text string, tokens int, count func(string) int) string {
	if count(text) <= tokens {
		return text
	}
	for most := min(len(text)-1, tokens*4); most > 0; {
		short := retain.Shorten(text, most, "")
		n := count(short)
		if n <= tokens {
			return short
		}
		most = min(most*tokens/n, most*9/10)
	}
	return ""
}

// plain takes from a text that is not the user's what could give it an authority
// it has not: control characters, and the brackets of tags that agent programs
// speak in.
func plain(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
			return -1
		}
		return r
	}, s)
	if !strings.Contains(s, "<") {
		return s
	}
	return unmarked.Replace(s)
}

var unmarked = strings.NewReplacer(
	"<system-reminder", "‹system-reminder", "</system-reminder", "‹/system-reminder", "<system_reminder", "‹system_reminder",
	"<environment_", "‹environment_", "<user_", "‹user_", "<task>", "‹task>", "</task>", "‹/task>", "<feedback>", "‹feedback>",
	"<command", "‹command", "</command", "‹/command", "<user-prompt", "‹user-prompt", "<task-notification", "‹task-notification",
)

// oneLine folds white space and cuts s to about most bytes at a word; the rest as
// [plain] does.
func oneLine(s string, most int) string {
	s = plain(s)
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	if i := strings.LastIndexByte(s[:cut], ' '); i > most*2/3 {
		cut = i
	}
	return s[:cut] + "…"
}
