package preset_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/condense"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/provider"
	"github.com/precis-dev/precis/provider/providertest"
)

func ExampleNew() {
	m, err := preset.New(preset.Options{}) // the balanced policy, exact counting
	if err != nil {
		panic(err)
	}
	conv := &precis.Conversation{Transcript: &precis.Transcript{}}
	conv.Transcript.Append(precis.NewText(precis.RoleUser, "Find the bug."))

	res, err := m.Manage(context.Background(), policy.Request{
		Conversation: conv,
		Window:       precis.Window{Tokens: 200_000, Source: precis.SourceConfigured},
	})
	fmt.Println(len(res.View), "messages to send:", res.Report.Outcome, err)
	// Output: 1 messages to send: nothing to do: 0.0 % of the window is used <nil>
}

func ExampleNew_withAModel() {
	server := providertest.New(nil, providertest.Options{}) // stands for the API
	defer server.Close()
	server.Enqueue(providertest.Text("1. Goal: find the bug.\n2. State: read half of it.\n3. Rules: none.\n4. Files: a.go.\n5. Next: read on."))

	client, err := provider.New(provider.Config{Model: "claude-haiku-4-5", Key: "test-key", BaseURL: server.BaseURL("anthropic")})
	if err != nil {
		panic(err)
	}
	m, err := preset.New(preset.Options{Condensing: &preset.Condensing{Writer: condense.WriterConfig{Model: client, Prompt: condense.Prompt{Template: "brief"}}}})
	if err != nil {
		panic(err)
	}
	conv := &precis.Conversation{Transcript: &precis.Transcript{}}
	for i := range 40 {
		conv.Transcript.Append(precis.NewText(precis.RoleUser, "Find the bug."), precis.NewText(precis.RoleAssistant, strings.Repeat(fmt.Sprintf("I read line %d. ", i), 120)))
	}
	conv.Transcript.Append(precis.NewText(precis.RoleUser, "And now?"))

	res, err := m.Manage(context.Background(), policy.Request{Conversation: conv, Window: precis.Window{Tokens: 32_000}})
	for _, e := range res.Report.Edits {
		fmt.Println(e.Rung, e.Kind, e.Call.Calls, "call")
	}
	fmt.Println(res.Report.After.Tokens < 20_000, err)
	// Output:
	// condense condensation 1 call
	// true <nil>
}
