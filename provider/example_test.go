package provider_test

import (
	"context"
	"fmt"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/model"
	"github.com/precis-dev/precis/models"
	"github.com/precis-dev/precis/provider"
	"github.com/precis-dev/precis/provider/providertest"
)

func Example() {
	// A server of our own stands for the API.
	server := providertest.New(nil, providertest.Options{})
	defer server.Close()
	server.Enqueue(
		providertest.RateLimited(time.Millisecond),
		providertest.Reply{Text: "They fixed the parser.", Usage: &precis.Usage{Input: 2_000, Output: 500}},
	)

	var catalog models.Catalog
	known, _ := catalog.Find("claude-sonnet-4-5")
	claude, err := provider.New(provider.Config{
		BaseURL: server.BaseURL("anthropic"),
		Key:     "test-key",
		Model:   known.ID,
		Info:    model.Info{Window: known.Window, MaxOutput: known.MaxOutput.Tokens},
		Prices:  known.Prices,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := claude.Generate(context.Background(), model.Request{
		System:   precis.NewText(precis.RoleSystem, "Summarize."),
		Messages: []precis.Message{precis.NewText(precis.RoleUser, "user: fix the parser\nassistant: done")},
	})
	fmt.Println(answer.Text, err)
	fmt.Printf("$%.4f, %d attempts\n", answer.CostUSD, answer.Attempts)
	// Output:
	// They fixed the parser. <nil>
	// $0.0135, 2 attempts
}
