package digest

import (
	"fmt"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/plain"
	"github.com/precis-dev/precis/internal/preview"
	"github.com/precis-dev/precis/internal/toolcall"
	"github.com/precis-dev/precis/retain"
)

// returnedTitle is the heading over results that the agent has not read yet.
const returnedTitle = "## Just returned, not acted on yet"

// The newest results get returnedShare percent of a digest, without those under leastReturned
// tokens.
const (
	returnedShare = 8
	leastReturned = 20
)

// returned quotes the results at the end of a conversation, within tokens: the agent has not acted
// on them, so no other section covers them. A file gets one line, since it can be read again.
func (in *input) returned(tokens int) (out []string) {
	last := len(in.messages) - 1
	if last < 0 || !in.covered(last) || in.messages[last].Role == precis.RoleAssistant {
		return nil
	}
	var all []*retain.Text
	for i := len(in.x.Texts) - 1; i >= 0 && in.x.Texts[i].Handle.From == last; i-- {
		if t := &in.x.Texts[i]; in.isPending(t) {
			all = append(all, t)
		}
	}
	for n := len(all) - 1; n >= 0; n-- {
		t := all[n]
		c := &in.x.Calls[t.Call]
		body := t.Body[:quotableEnd(t)]
		split := preview.Of(body, preview.Hint{Path: c.Path, Tool: c.Name, Command: c.Line,
			IsError: c.IsError})
		what := "`" + briefly(c.Line) + "`"
		if c.Kind != toolcall.Command || c.Line == "" {
			title := strings.Replace(c.Title(), c.Path, relative(c.Path, in.base), 1)
			what = plain.Text(preview.Quote(title, 120))
		}
		line := "- " + in.handle(last) + " " + what + ":"
		room := tokens/(n+1) - in.count(line) - 1
		if t.Source == retain.SourceFile {
			what := fmt.Sprintf("%d lines", strings.Count(strings.TrimSpace(body), "\n")+1)
			if split.Kind == preview.Code {
				what = preview.Quote(split.Head, 110)
			}
			line += " " + what
		} else if text := plain.Text(retain.Fit(strings.TrimSpace(body), room, in.count)); text != "" &&
			room >= leastReturned {
			line += "\n  " + plain.Indent(text)
		} else {
			continue
		}
		tokens -= in.count(line) + 1
		out = append(out, line)
	}
	return out
}

// isPending reports whether a text is a result with more content than a confirmation.
func (in *input) isPending(t *retain.Text) bool {
	if t.Call < 0 || t.Source < retain.SourceFile || t.Source >= retain.SourceHarness {
		return false
	}
	c := &in.x.Calls[t.Call]
	return c.Kind != toolcall.Write && in.work().Ends[t.Call].End != toolcall.Rejected &&
		strings.Contains(strings.TrimSpace(t.Body[:quotableEnd(t)]), "\n")
}
