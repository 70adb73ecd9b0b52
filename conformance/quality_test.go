package conformance

import (
	"encoding/json"
	"maps"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
)

// BenchmarkGuardQuality reports the quality figures of the guard, measured on the project's own recordings. It measures no time, and
// two runs report the same:
//
//   - half_facts, quarter_facts: share of the facts that the agent used again which a view of a half or a quarter of the
//     tokens still holds with their context
//   - told: share of the statements of recorded summaries that a digest of 3,500 tokens holds
//   - bill: cost of one long conversation behind the gateway, as a share of its cost without it
//   - saved_usd_error: how far saved_usd of the ledger is from the real difference, as a share of the cost without the gateway
func BenchmarkGuardQuality(b *testing.B) {
	const billed = 3 // recordings
	var rs []recorded
	all := readOwn(b)
	for _, rec := range all {
		rs = append(rs, summariesOf(rec)...)
	}
	cuts := cutsOf(all)
	for b.Loop() {
		b.ReportMetric(keptFacts(b, cuts, 2), "half_facts")
		b.ReportMetric(keptFacts(b, cuts, 4), "quarter_facts")
		b.ReportMetric(handedOverShare(b, rs), "told")
		c := billConversation(b, joined(all[:billed]))
		logf(b, "cost %.3f of %.3f USD, saved_usd %.3f", c.managed, c.unmanaged, c.saved)
		b.ReportMetric(c.managed/c.unmanaged, "bill")
		b.ReportMetric(math.Abs(c.saved-(c.unmanaged-c.managed))/c.unmanaged, "saved_usd_error")
	}
	b.ReportMetric(0, "ns/op")
}

// A fact is what a later turn may need word for word. The expressions belong to this measure and share nothing with the product.
var (
	fileFact   = regexp.MustCompile(`[\w.-]+/[\w.-]+\.[A-Za-z]{1,5}\b`)                                                      // a folder and a file
	nameFact   = regexp.MustCompile(`\b(?:[a-z]\w*_\w*[A-Za-z0-9]|[a-z]+[A-Z]\w+|[A-Z][a-z]+[A-Z]\w+|[A-Z]+[_-]\w*\d\w*)\b`) // an identifier of several words
	numberFact = regexp.MustCompile(`\b\d[\d.,]*\d{2}\b`)                                                                    // three digits or more
	errorFact  = regexp.MustCompile(`(?im)^.*\b(?:error|fatal|failed|exception|undefined|cannot)\b.*$`)
)

// factsIn returns the facts of a text.
func factsIn(text string) map[string]bool {
	const shortest, longest = 25, 160 // bytes of the line of an error
	out := map[string]bool{}
	for _, re := range []*regexp.Regexp{fileFact, nameFact, numberFact} {
		for _, f := range re.FindAllString(text, -1) {
			out[f] = true
		}
	}
	for _, f := range errorFact.FindAllString(text, -1) {
		if f = strings.TrimSpace(f); len(f) >= shortest && len(f) <= longest {
			out[f] = true
		}
	}
	return out
}

// wholeText returns the texts of messages, inputs and results of calls included.
func wholeText(msgs []precis.Message) string {
	var out strings.Builder
	for _, m := range msgs {
		for _, s := range textsOf(m) {
			out.WriteString(s + "\n")
		}
		for _, block := range m.Content {
			if use, ok := block.(precis.ToolUse); ok {
				var input any
				_ = json.Unmarshal(use.Input, &input) // another test reads the recordings
				out.WriteString(inputText(input))
			}
		}
	}
	return out.String()
}

// inputText returns the strings in the input of a call, a line each. The names of its arguments are no facts.
func inputText(v any) (out string) {
	switch v := v.(type) {
	case string:
		return v + "\n"
	case []any:
		for _, each := range v {
			out += inputText(each)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			out += inputText(v[name])
		}
	}
	return out
}

// neededFacts returns the facts from before the cut that the agent used in the next 40 messages without having been shown them again.
func neededFacts(r recorded) (needed []string) {
	const ahead = 40
	known, shown := factsIn(wholeText(r.messages)), map[string]bool{}
	for _, m := range r.after[:min(ahead, len(r.after))] {
		for f := range factsIn(wholeText([]precis.Message{m})) {
			if m.Role == precis.RoleAssistant && known[f] && !shown[f] {
				needed = append(needed, f)
			}
			shown[f] = true
		}
	}
	return needed
}

// cutsOf returns the recordings cut where the agent's program condensed, and after 50 and 85 % of their messages.
func cutsOf(all []*archive.Recording) (cuts []recorded) {
	for _, rec := range all {
		cuts = append(cuts, summariesOf(rec)...)
		msgs := rec.Conversation.Transcript.Messages()
		for _, percent := range []int{50, 85} {
			n := len(msgs) * percent / 100
			for msgs[n].Role != precis.RoleAssistant || msgs[n-1].Role != precis.RoleUser { // the agent's turn
				n--
			}
			cuts = append(cuts, recorded{name: filepath.Base(rec.Path), system: rec.Conversation.System, messages: msgs[:n], after: msgs[n:]})
		}
	}
	return cuts
}

// keptFacts returns the share of the needed facts that are in the view when the conversation before the cut is reduced to a part of its
// tokens, without a model.
func keptFacts(b *testing.B, cuts []recorded, part int) float64 {
	b.Helper()
	m := newManager(b, preset.Balanced)
	needed, kept := 0, 0
	for _, r := range cuts {
		target := m.NewMeter().View(r.messages) / part
		conv := &precis.Conversation{System: r.system, Transcript: precis.NewTranscript(r.messages...)}
		res, err := m.Manage(b.Context(), policy.Request{Conversation: conv, Window: precis.Window{Tokens: 2 * target}, Target: policy.Tokens(target), TriggeredBy: precis.TriggeredManual})
		if err != nil {
			b.Fatalf("%s: %v", r.name, err)
		}
		if size := m.NewMeter().View(res.View); size > target {
			b.Errorf("%s: the view has %d tokens, more than %d", r.name, size, target)
		}
		facts := neededFacts(r)
		lost := missing(wholeText(res.View), wholeText(r.messages), facts)
		logf(b, "%s, %d messages, 1/%d: %d of %d facts are lost: %q", r.name, len(r.messages), part, len(lost), len(facts), lost)
		needed, kept = needed+len(facts), kept+len(facts)-len(lost)
	}
	return float64(kept) / float64(needed)
}

// missing returns the facts that the view holds without what stood around them, or not at all: three lines of it must have the fact and
// three words of the lines around the newest place where it stood before.
func missing(view, before string, facts []string) (lost []string) {
	const around = 3 // words
	places, sources := strings.Split(view, "\n"), strings.Split(before, "\n")
	slices.Reverse(sources)
	for _, f := range facts {
		want := map[string]bool{}
		for at := range sources {
			if strings.Contains(sources[at], f) {
				want = wordsIn(linesAround(sources, at))
				break
			}
		}
		if !slices.ContainsFunc(indexes(places, f), func(at int) bool { return shared(want, wordsIn(linesAround(places, at))) >= min(around, len(want)) }) {
			lost = append(lost, f)
		}
	}
	return lost
}

// indexes returns the lines that hold a fact, as a whole word where it is one.
func indexes(lines []string, fact string) (at []int) {
	for i, line := range lines {
		if strings.Contains(line, fact) && (strings.Contains(fact, " ") || factsIn(line)[fact]) {
			at = append(at, i)
		}
	}
	return at
}

// linesAround returns a line with its neighbors.
func linesAround(lines []string, at int) string {
	return strings.Join(lines[max(at-1, 0):min(at+2, len(lines))], "\n")
}

// handedOverShare returns the mean share of the statements of recorded summaries that a digest of 3,500 tokens holds.
func handedOverShare(b *testing.B, rs []recorded) (mean float64) {
	b.Helper()
	for _, r := range rs {
		want := handedOver(r.text)
		held := inDigest(b, r, want)
		logf(b, "%s: %d of %d statements are in the digest", r.name, held, len(want))
		mean += float64(held) / float64(len(want)) / float64(len(rs))
	}
	return mean
}

// joined returns one long conversation: that of a user who gives one job after the other.
func joined(all []*archive.Recording) *precis.Transcript {
	out := precis.NewTranscript()
	for _, rec := range all {
		out.Append(rec.Conversation.Transcript.Messages()...)
	}
	return out
}

// logf logs a detail with -v alone: the guard reads the figures.
func logf(b *testing.B, format string, args ...any) {
	b.Helper()
	if testing.Verbose() {
		b.Logf(format, args...)
	}
}
