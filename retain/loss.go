package retain

import (
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/prose"
	"github.com/precis-dev/precis/policy"
)

// LikelyWorth is the worth above which a fact counts as likely to be needed again.
const LikelyWorth = 0.05

// Measure reports the retention of a view, with all losses. whole is all messages of the view;
// original is the same without the texts that digests and the gate wrote.
func (x *Index) Measure(worth []float64, whole, original []precis.Message) policy.Retention {
	all, own := x.NewCoverage(), x.NewCoverage()
	all.AddMessages(whole)
	own.AddMessages(original)
	return x.measure(worth, all, own, whole)
}

// MeasureView is [Index.Measure] of a view of the indexed conversation. Units with original
// messages, shortened or not, count as original.
func (x *Index) MeasureView(worth []float64, units []precis.Unit) policy.Retention {
	var whole []precis.Message
	var original, others []precis.Unit
	for _, u := range units {
		whole = append(whole, u.Messages...)
		if u.Original() {
			original = append(original, u)
		} else {
			others = append(others, u)
		}
	}
	own := x.NewCoverage()
	own.AddUnits(original)
	all := own.Clone()
	all.AddUnits(others)
	return x.measure(worth, all, own, whole)
}

func (x *Index) measure(worth []float64, all, own *Coverage, whole []precis.Message) policy.Retention {
	var r policy.Retention
	sum, kept := 0.0, 0.0
	for f, w := range worth {
		sum += w
		if all.Seen(f) {
			kept += w
		}
		if w < LikelyWorth && !x.Facts[f].Edited {
			continue
		}
		r.Anchors++
		switch {
		case !all.Seen(f):
			r.Lost = append(r.Lost, x.lostAnchor(f, w))
		case !own.Seen(f):
			r.Repaired++
			fallthrough
		default:
			r.Kept++
		}
	}
	r.Share = 1
	if sum > 0 {
		r.Share = kept / sum
	}
	sort.SliceStable(r.Lost, func(a, b int) bool { return r.Lost[a].Worth > r.Lost[b].Worth })
	view := FoldedText(whole)
	for _, unit := range x.typedUnits() {
		n := utf8.RuneCountInString(unit)
		if r.Typed += n; strings.Contains(view, unit) {
			r.TypedKept += n
		}
	}
	r.Rules, r.RulesLost = x.rules(view)
	return r
}

// typedUnits returns the sentences and lists that persons typed, see [WithoutPasted] and [prose.Units],
// with white space folded.
func (x *Index) typedUnits() []string {
	x.typedOnce.Do(func() {
		for i := range x.speech.Len() {
			for _, p := range x.speech.Passages(i) {
				text := WithoutPasted(p.Text)
				for _, u := range prose.Units(text) {
					x.typed = append(x.typed, Folded(u.Of(text)))
				}
			}
		}
	})
	return x.typed
}

func (x *Index) lostAnchor(f int, worth float64) policy.LostAnchor {
	fact := &x.Facts[f]
	return policy.LostAnchor{Text: fact.Name, Kind: fact.Kind.String(),
		Handle: precis.MessageHandle(int(fact.Last)), Worth: worth}
}

// Rule is a sentence or list that a person typed with a word such as "never" or "you may", see
// [Constraints].
type Rule struct {
	Text   string        `json:"text"`
	Handle precis.Handle `json:"handle"`
}

// MaxRules limits the number of rules that are considered.
const MaxRules = 1000

// Rules returns the rules in the words of persons, in order, each once, at most [MaxRules], chosen
// by [Fair].
func (x *Index) Rules() []Rule {
	x.rulesOnce.Do(func() { x.allRules = readRules(x.speech) })
	return slices.Clone(x.allRules)
}

// readRules returns the rules in the words of persons, including answers and comments on refusals.
func readRules(speech *precis.Speech) []Rule {
	var out []Rule
	seen := map[string]bool{}
	for i := range speech.Len() {
		for _, p := range speech.Passages(i) {
			for _, text := range Constraints(p.Text) {
				if key := Folded(text); !seen[key] {
					seen[key] = true
					out = append(out, Rule{text, p.Handle})
				}
			}
		}
	}
	return fairRules(out)
}

// fairRules returns at most [MaxRules] of the rules, in order, chosen by [Fair].
func fairRules(list []Rule) []Rule {
	left := MaxRules
	return Fair(list, func(Rule) bool { left--; return left >= 0 })
}

// Fair returns the rules that take accepts, in order. It calls take for the first rule of each
// message, the newest message first, then for the second of each, and so on: a text full of rules,
// such as a page that the user quotes, does not crowd out the rules of other messages.
func Fair(list []Rule, take func(Rule) bool) []Rule {
	type place struct{ round, at int }
	order := make([]place, len(list))
	said := map[int]int{}
	for i, r := range list {
		order[i] = place{said[r.Handle.From], i}
		said[r.Handle.From]++
	}
	slices.Reverse(order)
	slices.SortStableFunc(order, func(a, b place) int { return a.round - b.round })
	var kept []int
	for _, p := range order {
		if take(list[p.at]) {
			kept = append(kept, p.at)
		}
	}
	slices.Sort(kept)
	out := make([]Rule, len(kept))
	for i, at := range kept {
		out[i] = list[at]
	}
	return out
}

// rules counts the user's rules and returns those that are missing in the folded text of a view.
func (x *Index) rules(view string) (n int, lost []policy.LostAnchor) {
	set := x.Rules()
	for _, r := range set {
		if !strings.Contains(view, Folded(r.Text)) {
			lost = append(lost, policy.LostAnchor{Text: r.Text, Kind: "rule", Handle: r.Handle})
		}
	}
	return len(set), lost
}

// FoldedText returns all texts of messages with white space folded, for looking up
// sentences.
func FoldedText(msgs []precis.Message) string {
	var out strings.Builder
	writeWords(&out, msgs)
	return out.String()
}

func writeWords(out *strings.Builder, msgs []precis.Message) {
	texts(msgs, func(s string) {
		fold(out, s)
		out.WriteByte('\n')
	})
}

// Folded returns s trimmed, with every run of white space replaced by one space.
func Folded(s string) string {
	var out strings.Builder
	fold(&out, s)
	return out.String()
}

func fold(out *strings.Builder, s string) {
	first := true
	for word := range strings.FieldsSeq(s) {
		if !first {
			out.WriteByte(' ')
		}
		first = false
		out.WriteString(word)
	}
}
