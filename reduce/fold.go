package reduce

import (
	"context"
	"strconv"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/policy"
)

// Fold writes a run of equal lines in the output of a tool once, with their number, also in kept
// messages: "Parsing expression: 1 … [×12,400]". It is lossless. Words of the user and the model,
// and pinned blocks, stay unchanged.
type Fold struct {
	MinTokens int // blocks with a smaller saving are left alone; 0: 50
}

// Name returns "fold".
func (Fold) Name() string { return "fold" }

// Traits returns what the ladder has to know of the rung.
func (Fold) Traits() policy.Traits { return policy.Traits{Lossless: true} }

// Propose folds the runs of all blocks.
func (f Fold) Propose(_ context.Context, s *policy.Situation) (precis.Edit, error) {
	if f.MinTokens == 0 {
		f.MinTokens = 50
	}
	p := newProposal(s, precis.KindDedupe)
	shown := originals(s)
	speech := s.Transcript.Speech()
	s.EachOriginal(func(i int, m precis.Message, _ precis.Unit) {
		authors := speech.Authors(i)
		for _, a := range speech.Answers(i) {
			authors[a.Handle.Block] = precis.AuthorPerson
		}
		for b, block := range s.Transcript.At(i).Content {
			h := precis.BlockHandle(i, b)
			if _, ok := shown.get(h); !ok || s.Kept.PinnedBlock(i, b) || authors[b] == precis.AuthorPerson ||
				authors[b] == precis.AuthorModel {
				continue
			}
			folded, ok := foldBlock(block)
			if !ok {
				continue
			}
			if full := s.Meter.Block(m.Role, block); full-s.Meter.Block(m.Role, folded) >= f.MinTokens {
				p.blockOf(h, m.Role, full, folded)
			}
		}
	})
	p.edit.Report.Reason = "no run of equal lines"
	if n := len(p.edit.Replace); n > 0 {
		p.edit.Report.Reason = "runs of equal lines in " + plural(n, "block") + " written once"
	}
	return p.edit, nil
}

// foldBlock returns a text or a tool result with its runs folded. ok is false without a run.
func foldBlock(b precis.Block) (precis.Block, bool) {
	switch b := b.(type) {
	case precis.Text:
		text, ok := foldRuns(b.Text)
		return precis.Text{Text: text}, ok
	case precis.ToolResult:
		out := precis.ToolResult{ToolUseID: b.ToolUseID, IsError: b.IsError}
		changed := false
		for _, c := range b.Content {
			if t, isText := c.(precis.Text); isText {
				if text, ok := foldRuns(t.Text); ok {
					c, changed = precis.Text{Text: text}, true
				}
			}
			out.Content = append(out.Content, c)
		}
		return out, changed
	}
	return nil, false
}

// leastRun is how many equal lines are written once.
const leastRun = 4

// foldRuns writes each run of equal lines once, with their number. ok is false without a run.
func foldRuns(text string) (folded string, ok bool) {
	var out strings.Builder
	done := 0 // of text, in out
	for start := 0; start < len(text); {
		line := lineAt(text, start)
		n, end := 1, start+len(line)
		for end < len(text) && lineAt(text, end) == line {
			n, end = n+1, end+len(line)
		}
		// The last line may lack its end, which is no difference.
		if rest := len(text) - end; rest > 0 && rest+1 == len(line) && text[end:] == line[:rest] {
			n, end = n+1, len(text)
		}
		if n >= leastRun && strings.TrimSpace(line) != "" {
			out.WriteString(text[done:start])
			out.WriteString(strings.TrimRight(line, "\r\n"))
			out.WriteString(" … [×" + thousands(n) + "]\n")
			done = end
		}
		start = end
	}
	if done == 0 {
		return "", false
	}
	out.WriteString(text[done:])
	return out.String(), true
}

// lineAt returns the line that begins at start, with its end.
func lineAt(text string, start int) string {
	if i := strings.IndexByte(text[start:], '\n'); i >= 0 {
		return text[start : start+i+1]
	}
	return text[start:]
}

// thousands writes a number with a comma before each three digits.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
