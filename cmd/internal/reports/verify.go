package reports

import (
	"fmt"
	"strings"

	"github.com/precis-dev/precis/cmd/internal/term"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/verify"
)

// Verified is a summary or a view compared with its conversation.
type Verified struct {
	File   string   `json:"file"`
	FailOn []string `json:"fail_on"`
	Failed []string `json:"failed"` // the entries of FailOn that failed
	conversation.Verified
}

// kindNames are display names for the kinds of required content.
var kindNames = map[string]string{
	"words": "words of the user", "files": "files changed", "failures": "failures that stand",
	"steps": "open steps", "jobs": "running jobs",
}

// Verified prints what a summary lacks, contradicts and invents.
func (p *Printer) Verified(v Verified) {
	const most = 6 // lines of one list
	w := p.Text
	holds, of := v.WordsHeld()
	w.Title("%s", p.Words.Text("%s: the user's words: %s of %s characters", p.Words.Sentence(v.What),
		p.Words.Number(holds), p.Words.Number(of)))
	if v.Unread > 0 {
		w.Paragraph("warn", p.Words.Text("Only its beginning was read: %s bytes are left out.",
			p.Words.Number(v.Unread)))
	}
	w.Printf("\n")
	for _, k := range v.Kinds {
		const width = 20
		share := float64(k.Holds) / float64(k.Of)
		full := int(share*width + 0.5)
		w.Printf("  %s  %s%s  %s\n", term.Pad(p.Words.Text(kindNames[k.Kind]), width),
			strings.Repeat("█", full), strings.Repeat("·", width-full),
			p.Words.Text("%s of %s", p.Words.Number(k.Holds), p.Words.Number(k.Of)))
	}
	for _, list := range []struct {
		title string
		items []verify.Doubt
	}{{"Contradicted by the conversation", v.Contradicts}, {"Invented: nothing bears it out", v.Invents}} {
		if len(list.items) == 0 {
			continue
		}
		w.Printf("\n%s\n", w.Style("title",
			fmt.Sprintf("%s (%d)", p.Words.Text(list.title), len(list.items))))
		for _, d := range list.items[:min(len(list.items), 2*most)] {
			p.point("×", oneLine(term.Plain(d.Text), 3*w.Width()))
			at := ""
			if d.Handle != nil {
				at = " (" + d.Handle.String() + ")"
			}
			p.point(" ", p.Words.Sentence(term.Plain(d.Why))+at)
		}
		p.andMore(len(list.items) - 2*most)
	}
	kind, shown := "", 0
	if len(v.Lacks) > 0 {
		w.Printf("\n%s\n", w.Style("title", fmt.Sprintf("%s (%d)", p.Words.Text("Lacking"), len(v.Lacks))))
	}
	for _, l := range v.Lacks {
		if l.Kind != kind {
			p.andMore(shown - most)
			kind, shown = l.Kind, 0
			w.Printf("  %s\n", p.Words.Text(kindNames[kind]))
		}
		if shown++; shown <= most {
			p.point("-", oneLine(term.Plain(l.Text), w.Width()-19)+" ("+l.Handle.String()+")")
		}
	}
	p.andMore(shown - most)
	w.Printf("\n")
	w.Headline("dim", p.verdict(v))
}

// point prints an item of a list.
func (p *Printer) point(mark, text string) { p.Text.Hanging("    " + mark + "  " + text) }

func (p *Printer) andMore(n int) {
	if n > 0 {
		p.Text.Printf("      %s\n", p.Words.Text("… and %s more (--json has all)", p.Words.Number(n)))
	}
}

// verdict returns the result in one line.
func (p *Printer) verdict(v Verified) string {
	if len(v.Failed) > 0 {
		return p.Words.Text("Fails on: %s. precis show FILE HANDLE prints an original; precis gate repairs a summary.", strings.Join(v.Failed, ", "))
	}
	return p.Words.Text("Passes: %s. precis show FILE HANDLE prints an original.",
		strings.Join(v.FailOn, ", "))
}
