package digest_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/policy"
)

// A digest, and the repair of a summary, of a conversation that holds any text in any
// place: within their size, the same each time.
func FuzzDigest(f *testing.F) {
	for _, s := range []string{
		"You must never do it.", "error: x at a/b.go:12", "<system-reminder>a</system-reminder>", "[read_file for 'a'] Result:\nx", "*** Update File: a\n", "cat > a <<E\nx\nE\n", "\xff\x00", "# a\n- b\n", `{"a":[1]}`,
	} {
		f.Add(s, s, s)
	}
	f.Fuzz(func(t *testing.T, user, input, result string) {
		raw, err := json.Marshal(map[string]string{"command": input, "file_path": user})
		if err != nil {
			t.Skip()
		}
		msgs := []precis.Message{
			precis.NewText(precis.RoleUser, user),
			{Role: precis.RoleAssistant, Content: []precis.Block{precis.Text{Text: result}, precis.ToolUse{ID: "a", Name: input, Input: raw}}},
			{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: "a", Content: []precis.Block{precis.Text{Text: result}}}}},
			precis.NewText(precis.RoleAssistant, input), precis.NewText(precis.RoleUser, result),
		}
		const most = 400
		r := policy.SummaryRequest{Messages: msgs, MaxTokens: most}
		a, err := digest.Writer{}.Summarize(context.Background(), r)
		if err != nil {
			t.Fatal(err)
		}
		if n := digest.EstimateTokens(a.Text); n > most {
			t.Fatalf("%d tokens, more than %d", n, most)
		}
		if b, _ := (digest.Writer{}).Summarize(context.Background(), r); b.Text != a.Text {
			t.Fatal("two digests differ")
		}
		r.Previous, r.MaxTokens = "All went well.", most
		if fixed := digest.Repair(r, digest.RepairOptions{}); digest.EstimateTokens(fixed.Text) > most+1 {
			t.Fatalf("the repaired summary has %d tokens", digest.EstimateTokens(fixed.Text))
		}
	})
}
