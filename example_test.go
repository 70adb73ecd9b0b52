package precis_test

import (
	"context"
	"fmt"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/precistest"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/reduce"
	"github.com/precis-dev/precis/tokens"
)

// An edit hides a span; the transcript keeps it; undoing is another edit.
func ExampleView() {
	t := precis.NewTranscript(
		precis.NewText(precis.RoleUser, "the task"),
		precis.NewText(precis.RoleAssistant, "a long detour"),
		precis.NewText(precis.RoleUser, "go on"),
		precis.NewText(precis.RoleAssistant, "done"),
	)
	edits := []precis.Edit{{ID: "e1", Kind: precis.KindTruncation, Replace: []precis.Replacement{
		{From: 1, To: 3, With: []precis.Message{precis.NewText(precis.RoleUser, "[two messages hidden: m1-m2]")}},
	}}}
	for _, m := range precis.View(t, edits) {
		fmt.Println(m.Role, m.PlainText())
	}
	edits = append(edits, precis.Edit{ID: "e2", Kind: precis.KindUndo, Undoes: []string{"e1"}})
	fmt.Println(len(precis.View(t, edits)), "messages after undo")
	// Output:
	// user the task
	// user [two messages hidden: m1-m2]
	// assistant done
	// 4 messages after undo
}

// The decision is pure and carries its arithmetic.
func ExamplePlan() {
	settings := policy.DefaultSettings()
	budget := settings.Budget(precis.Window{Tokens: 200_000, Source: precis.SourceCatalog}, 0, 0, 0)
	d := policy.Plan(policy.Load{Used: 155_000}, budget, settings, "")
	fmt.Println(d.Action, "by", d.Trigger)
	fmt.Println(d.Arithmetic())
	// Output:
	// reduce by threshold
	// used 155,000 of 200,000 (78 %), threshold 75 % (global), allowed 200,000 × (1 − 0.1) − 8,192 = 171,808, target 100,000
}

// Pins keep what a user calls important in every view.
func ExampleManager_Pin() {
	counter, _ := tokens.New(tokens.Options{Name: tokens.NameChars4})
	m, _ := policy.NewManager(policy.Options{Counter: counter, Strategies: []policy.Strategy{reduce.Truncate{}}})
	conv := &precis.Conversation{Transcript: precistest.Numbered(200)}
	m.Pin(context.Background(), conv, precis.MessageHandle(7))

	res, _ := m.Manage(context.Background(), policy.Request{Conversation: conv, Window: precis.Window{Tokens: 130}})
	for _, msg := range res.View[:4] {
		fmt.Println(msg.PlainText())
	}
	// Output:
	// 0
	// [6 earlier messages hidden here to save room; nothing is lost: m1-m6.]
	// 7
	// [149 earlier messages hidden here to save room; nothing is lost: m8-m156.]
}

func ExampleParseHandle() {
	h, err := precis.ParseHandle("m12.b3")
	fmt.Println(h.From, h.Block, err)
	_, err = precis.ParseHandle("twelve")
	fmt.Println(err)
	// Output:
	// 12 3 <nil>
	// read handle: "twelve" is not a handle such as m12, m12-m40 or m12.b3
}
