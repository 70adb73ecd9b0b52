package preset_test

import (
	"context"
	"fmt"

	"precis"
	"precis/preset"
)

func ExampleNew() {
	m, err := preset.New(preset.Options{}) // the balanced policy, exact counting
	if err != nil {
		panic(err)
	}
	conv := &precis.Conversation{Transcript: &precis.Transcript{}}
	conv.Transcript.Append(precis.NewText(precis.RoleUser, "Find the bug."))

	res, err := m.Manage(context.Background(), precis.Request{
		Conversation: conv,
		Window:       precis.Window{Tokens: 200_000, Source: precis.SourceConfigured},
	})
	fmt.Println(len(res.View), "messages to send:", res.Report.Outcome, err)
	// Output: 1 messages to send: nothing to do: 0.0 % of the window is used <nil>
}
