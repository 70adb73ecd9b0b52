package conformance

import (
	"fmt"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/policy"
)

// compaction is what one way of compacting gave, over all places.
type compaction struct {
	texts, bytes, doubted int
	holds, of             map[string]int // by the kinds of [verify.Kinds]
}

func (c *compaction) add(r recorded, text string) {
	rep := digest.Verify(policy.SummaryRequest{Conversation: &precis.Conversation{System: r.system}, Messages: r.messages, Previous: text}, "", nil)
	c.texts, c.bytes, c.doubted = c.texts+1, c.bytes+len(text), c.doubted+len(rep.Contradicts)+len(rep.Invents)
	for _, s := range rep.Kinds {
		c.holds[s.Kind], c.of[s.Kind] = c.holds[s.Kind]+s.Holds, c.of[s.Kind]+s.Of
	}
}

// size is the mean size of a text in tokens of four characters.
func (c *compaction) size() string { return grouped(c.bytes / max(c.texts, 1) / 4) }

func (c *compaction) share(kind string) string {
	return fmt.Sprintf("%.0f %%", 100*float64(c.holds[kind])/float64(max(c.of[kind], 1)))
}

// grouped writes a number up to a million with a comma.
func grouped(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}

// TestCompactions compares what the summaries hold that agents' own models wrote with what digests of the same messages hold, as
// precis verify counts it: the table of the README.
func TestCompactions(t *testing.T) {
	t.Parallel()
	model, ours := &compaction{holds: map[string]int{}, of: map[string]int{}}, &compaction{holds: map[string]int{}, of: map[string]int{}}
	for _, r := range measured(t) {
		s, err := digest.Writer{}.Summarize(t.Context(), policy.SummaryRequest{Messages: r.messages, Conversation: &precis.Conversation{System: r.system}})
		if err != nil {
			t.Fatal(err)
		}
		model.add(r, r.text)
		ours.add(r, s.Text)
	}
	stated(t, "README.md", `\| size; model calls \| ([\d,]+) tokens; one each \| ([\d,]+) tokens; none \|`, model.size(), ours.size())
	for _, row := range []struct{ kind, name string }{
		{"words", "what the user typed, word for word"}, {"files", "files that were written"}, {"failures", "failures that stand"},
		{"steps", "open steps of the plan"},
	} {
		stated(t, "README.md", `\| `+row.name+` \| (\d+ %) \| (\d+ %) \|`, model.share(row.kind), ours.share(row.kind))
		if ours.holds[row.kind]*model.of[row.kind] < model.holds[row.kind]*ours.of[row.kind] {
			t.Errorf("digests hold fewer %s than the models' summaries", row.kind)
		}
	}
	stated(t, "README.md", `\| statements that the conversation contradicts or does not know \| (\d+) \| (\d+) \|`, fmt.Sprint(model.doubted), fmt.Sprint(ours.doubted))
	stated(t, "README.md", `where agents compacted (\d+) recorded conversations`, fmt.Sprint(model.texts))
}
