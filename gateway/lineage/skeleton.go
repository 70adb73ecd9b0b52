package lineage

import "github.com/precis-dev/precis"

// maxCleared is the longest text, in bytes, that a client writes in place of a cleared tool result.
const maxCleared = 512

// skeletons appends the chain of fingerprints without the content of tool results: role, texts, and
// IDs.
func skeletons(chain []precis.Fingerprint, msgs []precis.Message) []precis.Fingerprint {
	var last precis.Fingerprint
	if n := len(chain); n > 0 {
		last = chain[n-1]
	}
	for _, m := range msgs {
		last = last.Next(skeleton(m))
		chain = append(chain, last)
	}
	return chain
}

// skeleton returns a message without the content of its tool results.
func skeleton(m precis.Message) precis.Message {
	out := precis.Message{Role: m.Role, Content: make([]precis.Block, 0, len(m.Content))}
	for _, b := range m.Content {
		if r, ok := b.(precis.ToolResult); ok {
			b = precis.ToolResult{ToolUseID: r.ToolUseID}
		}
		out.Content = append(out.Content, b)
	}
	return out
}

// rewritten returns the line that the request continues if cleared tool results are ignored, and
// its number of messages, which must exceed n, the number known without that. Only results may
// differ, and each changed one must have become a short note: any other result makes a different
// conversation. So does a changed newest message, because clients clear old ones.
func (t *Table[S]) rewritten(f *Placement[S], r Request, n int) (*Line[S], int) {
	if f.Len <= n {
		return nil, 0
	}
	chain := skeletons(nil, f.Messages)
	for at := len(chain); at > n; at-- {
		l := t.heads[nodeKey{r.space(), chain[at-1]}]
		if l == nil || len(l.fingerprints) != at {
			continue
		}
		if precis.HashMessage(l.Transcript.At(at-1)) != precis.HashMessage(f.Messages[at-1]) {
			continue
		}
		if cleared, ok := clearedResults(l.Transcript.Messages()[:at], f.Messages[:at]); ok {
			f.Cleared = cleared
			return l, at
		}
	}
	return nil, 0
}

// clearedResults returns the messages with cleared results, and whether there is no other difference.
func clearedResults(was, is []precis.Message) (out []int, ok bool) {
	for i := range was {
		if precis.HashMessage(was[i]) == precis.HashMessage(is[i]) {
			continue
		}
		a, b := resultsOf(was[i]), resultsOf(is[i])
		if len(a) != len(b) {
			return nil, false
		}
		for k := range a {
			if a[k].ToolUseID == "" || !precis.EqualBlocks(a[k], b[k]) && !note(a[k], b[k]) {
				return nil, false
			}
		}
		out = append(out, i)
	}
	return out, len(out) > 0
}

func note(was, is precis.ToolResult) bool {
	if len(is.Content) > 1 {
		return false
	}
	if len(is.Content) == 1 {
		if _, text := is.Content[0].(precis.Text); !text {
			return false
		}
	}
	text := is.Text()
	return len(text) <= maxCleared &&
		(len(text) < len(was.Text()) || len(was.Content) > len(is.Content) || hasOther(was))
}

func hasOther(r precis.ToolResult) bool {
	for _, b := range r.Content {
		if _, text := b.(precis.Text); !text {
			return true
		}
	}
	return false
}

func resultsOf(m precis.Message) (out []precis.ToolResult) {
	for _, b := range m.Content {
		if r, ok := b.(precis.ToolResult); ok {
			out = append(out, r)
		}
	}
	return out
}
