package digest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/measure"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/tokens"
)

// TestADigestWrittenAgainIsAsWrittenAnew: what is remembered of the first, longer one changes nothing.
func TestADigestWrittenAgainIsAsWrittenAnew(t *testing.T) {
	var msgs []precis.Message
	for i := range 40 {
		input, err := json.Marshal(map[string]string{"file_path": fmt.Sprintf("/home/ann/shop/part%d.go", i%7)})
		if err != nil {
			t.Fatal(err)
		}
		var source strings.Builder
		fmt.Fprintf(&source, "package shop\n\n// Price%d is a price.\nfunc Price%d(order Order) int {\n", i, i)
		for k := range 30 {
			fmt.Fprintf(&source, "\tcheckLine%d(order, taxRate%d)\n", (i*k)%50, k)
		}
		source.WriteString("}\n")
		id := fmt.Sprint("c", i)
		msgs = append(msgs, precis.NewText(precis.RoleUser, fmt.Sprintf("Request %d: look at Price%d. Never touch part%d.go.", i, i, i)),
			precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: id, Name: "Read", Input: input}}},
			precis.Message{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: id, Content: []precis.Block{precis.Text{Text: source.String()}}}}})
	}
	counter, err := tokens.New(tokens.Options{Name: tokens.NameChars4})
	if err != nil {
		t.Fatal(err)
	}
	begin := func() *boundary {
		tr, m := precis.NewTranscript(msgs...), measure.New(counter)
		return newBoundary(&policy.Situation{Conversation: &precis.Conversation{Transcript: tr}, Transcript: tr, Units: precis.Units(tr, nil), Meter: m,
			Kept: policy.Keep(tr, nil, m, 3, 0), Settings: policy.DefaultSettings(), Used: m.View(msgs), Target: 12_000, Limit: 12_000, Trigger: 18_000,
			Budget: policy.Budget{Window: precis.Window{Tokens: 24_000}}})
	}
	b := begin()
	for n := len(b.groups); n > len(b.groups)/2; n -= 7 {
		size := 6000
		if n%2 == 0 {
			size = 3000 // its lines are shorter
		}
		fresh := begin()
		for i := range fresh.first {
			fresh.first[i] = -1 // nothing is divided yet
		}
		again, anew := b.edit("digest", n, size, ""), fresh.edit("digest", n, size, "")
		if len(anew.Replace) == 0 {
			t.Fatal("no digest")
		}
		if !reflect.DeepEqual(again, anew) {
			t.Errorf("%d of %d groups: written again\n%s\nanew\n%s", n, len(b.groups), again.Replace[0].With[0].PlainText(), anew.Replace[0].With[0].PlainText())
		}
	}
}
