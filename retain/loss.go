package retain

import (
	"sort"
	"strings"

	"precis"
)

// Likely is the worth from which a fact counts as likely to be needed again.
const Likely = 0.05

// Measure says what a view keeps: whole is all it shows, and original what it
// shows without the texts that digests and the gate wrote.
func (x *Index) Measure(worth []float64, whole, original []precis.Message) precis.Retention {
	all, own := x.Cover(), x.Cover()
	all.Messages(whole)
	own.Messages(original)
	var r precis.Retention
	sum, kept := 0.0, 0.0
	for f, w := range worth {
		sum += w
		if all.Seen(f) {
			kept += w
		}
		if w < Likely && !x.Facts[f].Edited {
			continue
		}
		r.Anchors++
		switch {
		case !all.Seen(f):
			r.Lost = append(r.Lost, x.lost(f, w))
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
	r.Lost = r.Lost[:min(len(r.Lost), precis.MaxLost)]
	r.Rules, r.RulesLost = x.rules(whole)
	return r
}

func (x *Index) lost(f int, worth float64) precis.LostAnchor {
	fact := &x.Facts[f]
	return precis.LostAnchor{Text: fact.Name, Kind: fact.Kind.String(), Handle: precis.MessageHandle(int(fact.Last)), Worth: worth}
}

// Rule is a sentence in which the user sets a rule.
type Rule struct {
	Text   string
	Handle precis.Handle
}

// MaxRules is how many rules are looked for at most, the newest.
const MaxRules = 1000

// Rules returns the rules the user set, in order, each once, the newest
// [MaxRules] at most.
func (x *Index) Rules() []Rule {
	var out []Rule
	seen := map[string]bool{}
	for i := range x.Texts {
		t := &x.Texts[i]
		if t.Source != User {
			continue
		}
		for _, c := range Constraints(t.Body) {
			if key := Folded(c); !seen[key] {
				seen[key] = true
				out = append(out, Rule{c, t.Handle})
			}
		}
	}
	return out[max(len(out)-MaxRules, 0):]
}

// rules counts the user's rules and returns those the messages do not hold.
func (x *Index) rules(msgs []precis.Message) (n int, lost []precis.LostAnchor) {
	rules := x.Rules()
	if len(rules) == 0 {
		return 0, nil
	}
	view := Words(msgs)
	for _, r := range rules {
		if !strings.Contains(view, Folded(r.Text)) {
			lost = append(lost, precis.LostAnchor{Text: r.Text, Kind: "rule", Handle: r.Handle})
		}
	}
	return len(rules), lost
}

// Words returns all texts of messages with white space folded, for looking up
// sentences.
func Words(msgs []precis.Message) string {
	var out strings.Builder
	texts(msgs, func(s string) {
		out.WriteString(Folded(s))
		out.WriteByte('\n')
	})
	return out.String()
}

// Folded returns s with every run of white space as one space.
func Folded(s string) string { return strings.Join(strings.Fields(s), " ") }
