package conformance

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/internal/toolcall"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
)

// Where agent programs condensed by themselves, a model that had the whole window before it wrote what to go on with. Two measures
// compare what precis writes at that place: which of the model's statements a digest tells, and what the agent asked for again.

// wanted begins the sections of a summary with what a successor needs most: errors, decisions, what is pending.
var (
	wanted      = regexp.MustCompile(`(?i)error|problem|pending|current work|next step|decision|key insight|analysis|chronolog`)
	headingLine = regexp.MustCompile(`^\s*(?:#+ |\d+\. \**[A-Z]|\*\*[A-Z]|[A-Z][a-z]+(?: [A-Z]?[a-z]+){0,4}:\s*$)`)
	subHeading  = regexp.MustCompile(`^\s*\d+\. \*\*`)
	sentenceEnd = regexp.MustCompile(`[.;]\s+`)
	wordPattern = regexp.MustCompile(`[A-Za-z][A-Za-z0-9_]{3,}`)
	nameInText  = regexp.MustCompile(`[A-Za-z_][\w.]*(?:[_/.][\w.]+)+|[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*|\b\d{2,}\b`)
	emptyWords  = regexp.MustCompile(`(?i)^(?:that|this|with|from|have|been|were|will|which|when|then|also|into|only|should|would|could|there|their|they|what|because|after|before|user|asked|request|requested|following|section|message|messages|work|current|added|using|used|file|files|code|change|changes|changed|implementation|conversation|summary)$`)
)

// wordsIn returns the words of a text that say something.
func wordsIn(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range wordPattern.FindAllString(text, -1) {
		if !emptyWords.MatchString(w) {
			out[strings.ToLower(w)] = true
		}
	}
	return out
}

// shared counts the words that are in both sets.
func shared(a, b map[string]bool) (n int) {
	for w := range a {
		if b[w] {
			n++
		}
	}
	return n
}

// handedOver returns the statements of a summary that a successor needs most.
func handedOver(summary string) (out []string) {
	const longest, leastWords = 120, 4
	on := false
	for line := range strings.SplitSeq(summary, "\n") {
		if headingLine.MatchString(line) && len(line) < longest {
			on = wanted.MatchString(line) || on && subHeading.MatchString(line)
		}
		if !on {
			continue
		}
		for _, s := range sentenceEnd.Split(strings.Trim(line, " \t-*#"), -1) {
			if len(wordsIn(s)) >= leastWords && !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	return out
}

// tells reports whether three lines of a text that stand together hold half of the words of a statement, and two of its names.
func tells(text, statement string) bool {
	words, names := wordsIn(statement), nameInText.FindAllString(statement, -1)
	var lines []string
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			lines = append(lines, line)
		}
	}
	for i := range lines {
		passage := strings.Join(lines[i:min(i+3, len(lines))], " ")
		common, named := shared(words, wordsIn(passage)), 0
		for _, n := range names {
			if strings.Contains(passage, n) {
				named++
			}
		}
		if common*2 >= len(words) && (len(names) < 2 || named >= 2) {
			return true
		}
	}
	return false
}

// inDigest returns how many statements a digest of 3,500 tokens holds.
func inDigest(t testing.TB, r recorded, statements []string) (n int) {
	t.Helper()
	s, err := digest.Writer{}.Summarize(t.Context(), policy.SummaryRequest{Messages: r.messages, Conversation: &precis.Conversation{System: r.system}})
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range statements {
		if tells(s.Text, statement) {
			n++
		}
	}
	return n
}

// interval returns the mean of shares and the half of its 95 % interval, by drawing anew from them.
func interval(shares []float64) (mean, half float64) {
	const draws = 2000
	if len(shares) == 0 {
		return 0, 0
	}
	r := rand.New(rand.NewPCG(1, 2))
	means := make([]float64, draws)
	for i := range means {
		for range shares {
			means[i] += shares[r.IntN(len(shares))] / float64(len(shares))
		}
	}
	for _, s := range shares {
		mean += s / float64(len(shares))
	}
	slices.Sort(means)
	return mean, math.Max(means[draws*975/1000]-mean, mean-means[draws*25/1000])
}

// measured returns the recorded summaries to measure at.
func measured(t *testing.T) []recorded {
	t.Helper()
	dir := os.Getenv("PRECIS_TRANSCRIPTS")
	if dir == "" || testing.Short() {
		t.Skip("PRECIS_TRANSCRIPTS names no folder, or -short")
	}
	return recordedSummaries(t, dir)
}

// TestHandOver measures how many of the statements of recorded summaries, on errors, decisions and what is next, a digest of 3,500 tokens
// tells. The bound is what must not be lost again.
func TestHandOver(t *testing.T) {
	t.Parallel()
	const leastStatements, bound = 8, 0.45
	var shares []float64
	all := 0
	for _, r := range measured(t) {
		want := handedOver(r.text)
		if len(want) < leastStatements {
			continue
		}
		told := inDigest(t, r, want)
		shares = append(shares, float64(told)/float64(len(want)))
		all += len(want)
	}
	mean, half := interval(shares)
	t.Logf("hand-over, %d cases, %d statements: %.3f ± %.3f told", len(shares), all, mean, half)
	stated(t, "docs/measurements.md", `of ([\d,]+) statements of agents' own summaries [^*]*\*\*(\.\d+ ± \.\d+)\*\*`, grouped(all),
		strings.ReplaceAll(fmt.Sprintf("%.3f ± %.3f", mean, half), "0.", "."))
	if len(shares) > 0 && mean < bound {
		t.Errorf("%.3f of the statements are told, less than %.2f", mean, bound)
	}
}

// asked is a call that an agent made again after its program condensed: what it had got of it before.
type asked struct{ name, result string }

// askedAgain returns the reads, searches and commands behind a summary that were made before it, up to the first write.
func askedAgain(before, after []precis.Message) (out []asked) {
	const least = 40 // bytes of a result
	got := map[string]string{}
	key := func(c *toolcall.Call) string { return c.Name + "\x00" + c.Path + "\x00" + c.Line + "\x00" + c.Title() }
	for _, c := range toolcall.Find(before) {
		got[key(&c)] = c.Output()
	}
	seen := map[string]bool{}
	for _, c := range toolcall.Find(after) {
		if c.Kind == toolcall.Write {
			break
		}
		if k := key(&c); len(got[k]) > least && !seen[k] {
			seen[k] = true
			out = append(out, asked{c.Title(), got[k]})
		}
	}
	return out
}

// shareShown returns the share of the lines of a result that a view has.
func shareShown(view map[string]bool, whole, result string) float64 {
	const short, long = 8, 30 // bytes of a line that says nothing, and of one that may stand inside another
	lines, has := 0, 0
	for line := range strings.Lines(result) {
		line = strings.TrimSpace(line)
		if len(line) <= short {
			continue
		}
		lines++
		_, bare, _ := strings.Cut(line, "→")
		if view[line] || bare != "" && view[strings.TrimSpace(bare)] || len(line) > long && strings.Contains(whole, line) {
			has++
		}
	}
	if lines == 0 {
		return 1
	}
	return float64(has) / float64(lines)
}

// TestReAsks measures how many of the calls that agents made again after their programs condensed a view of precis would have
// answered: it shows half of the lines or more. The bounds are what must not be lost again.
func TestReAsks(t *testing.T) {
	t.Parallel()
	m := newManager(t, preset.Frugal)
	var counts []string
	for _, size := range []struct {
		target int
		bound  float64
	}{{8_000, 0.1}, {20_000, 0.35}, {40_000, 0.5}, {80_000, 0.8}} {
		target, bound := size.target, size.bound
		all, answered := 0, 0.0
		for _, r := range measured(t) {
			again := askedAgain(r.messages, r.after)
			if len(again) == 0 {
				continue
			}
			conv := &precis.Conversation{System: r.system, Transcript: precis.NewTranscript(r.messages...)}
			res, err := m.Manage(t.Context(), policy.Request{Conversation: conv, Window: precis.Window{Tokens: 2 * target}, Target: policy.Tokens(target), TriggeredBy: precis.TriggeredManual})
			if err != nil {
				t.Fatalf("%s: %v", r.name, err)
			}
			whole := precis.NewTranscript(res.View...)
			var text strings.Builder
			lines := map[string]bool{}
			for _, msg := range whole.Messages() {
				for _, s := range textsOf(msg) {
					text.WriteString(s + "\n")
					for line := range strings.Lines(s) {
						lines[strings.TrimSpace(line)] = true
					}
				}
			}
			for _, a := range again {
				all++
				if shareShown(lines, text.String(), a.result) >= 0.5 {
					answered++
				}
			}
		}
		t.Logf("asked again, views of %d tokens, %d cases: %.0f answered", target, all, answered)
		if all > 0 && answered < bound*float64(all) {
			t.Errorf("views of %d tokens answer %.0f of %d, less than %.2f", target, answered, all, bound)
		}
		counts = append(counts, fmt.Sprint(answered))
		if target == 40_000 {
			stated(t, "README.md", `Of (\d+) calls that the agents then repeated a view of 40,000 tokens would have answered (\d+)`, fmt.Sprint(all), fmt.Sprint(answered))
			stated(t, "docs/measurements.md", `of (\d+) calls that agents repeated`, fmt.Sprint(all))
		}
	}
	stated(t, "docs/measurements.md", `answers to half or more: \*\*(\d+), (\d+), (\d+),\s+(\d+)\*\*`, counts...)
}

// textsOf returns the texts of a message, those of results with it.
func textsOf(m precis.Message) (out []string) {
	for _, b := range m.Content {
		switch b := b.(type) {
		case precis.Text:
			out = append(out, b.Text)
		case precis.ToolResult:
			for _, inner := range b.Content {
				if x, ok := inner.(precis.Text); ok {
					out = append(out, x.Text)
				}
			}
		}
	}
	return out
}
