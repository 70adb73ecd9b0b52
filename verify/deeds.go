package verify

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/precis-dev/precis/internal/lazyregexp"
	"github.com/precis-dev/precis/internal/table"
	"github.com/precis-dev/precis/internal/toolcall"
	"github.com/precis-dev/precis/workstate"
)

//go:embed deeds.txt
var deedsText string

// deed is an action of an agent on the outside world.
type deed struct {
	name, word string
	says, does *lazyregexp.Regexp
}

// done matches the words before a participle that reports a completed action; DONE in the table.
const done = `(?:^\W*(?:successfully )?|[:,] |` +
	`\b(?:was|were|been|i|we|agent|then|and|is|are|also|successfully) (?:successfully |also |then )?)`

var deedTable = table.Lazy("deeds.txt", deedsText, "deed", "says", "does", "word")

var deeds = sync.OnceValue(func() (out []deed) {
	for _, r := range deedTable().Rows {
		out = append(out, deedOf(r))
	}
	return out
})

func deedOf(r table.Row) deed {
	says := lazyregexp.New("(?i:" + strings.ReplaceAll(r.Get("says"), "DONE ", done) + ")")
	return deed{r.Get("deed"), r.Get("word"), says, lazyregexp.New(r.Get("does"))}
}

// deed doubts that an action on the outside was taken when no call took it.
func (d *claimChecker) deed(s Statement) bool {
	if says("not done", s.Text) || says("by others", s.Text) {
		return false
	}
	for _, deed := range deeds() {
		if !deed.says.MatchString(s.Text) {
			continue
		}
		tried, done := d.triedTo(deed)
		switch {
		case done:
		case tried < 0:
			d.doubt(shown(s), DoubtOutcome, "no call that did not fail made a "+deed.name, nil)
			return true
		case d.Outcomes[tried].End == toolcall.Rejected:
			return d.contradict(s, DoubtOutcome,
				d.quoted(d.Index.Calls[tried].Line)+": "+refused(d.Outcomes[tried]),
				tried)
		default:
			return d.contradict(s, DoubtOutcome,
				d.quoted(d.Index.Calls[tried].Line)+" failed"+codeOf(d.Outcomes[tried]), tried)
		}
	}
	return false
}

// triedTo returns the newest call that tried to take an action and failed, -1 for none, and whether
// a call may have taken it, a person reports it, or a job names it.
func (p *History) triedTo(it deed) (tried int, done bool) {
	const most = 4000 // bytes of the arguments of a call
	tried = -1
	for i := range p.Index.Calls {
		c := &p.Index.Calls[i]
		does := c.Kind == toolcall.Command && it.does.MatchString(c.Line)
		if c.Kind == toolcall.Other {
			does = strings.Contains(strings.ToLower(c.Name+" "+c.Text[:min(len(c.Text), most)]), it.word)
		}
		if !does {
			continue
		}
		if end := p.Outcomes[i].End; end != toolcall.Rejected && end != toolcall.Failed {
			return -1, true
		}
		tried = i
	}
	names := func(j workstate.Item) bool {
		return strings.Contains(strings.ToLower(j.Result+j.Text),
			it.word)
	}
	return tried, tried < 0 && p.personsSay(it.says.MatchString) || slices.ContainsFunc(p.Holds.Jobs, names)
}
