package models_test

import (
	"fmt"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/models"
)

func Example() {
	overrides, err := models.ParseOverrides([]byte("models:\n  - id: my-llm\n    window: 32768\n"), "models.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	catalog, err := models.New(models.Options{Overrides: overrides})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, id := range []string{"claude-sonnet-4-5", "claude-sonnet-4-5[1m]", "my-llm", "no-idea"} {
		w := catalog.Window(id)
		fmt.Printf("%s: %d tokens, %s\n", id, w.Tokens, w.Source)
	}

	m, _ := catalog.Find("us.anthropic.claude-sonnet-4-5-20250929-v1:0")
	usage := precis.Usage{Input: 2_000, Output: 1_000, CacheRead: 100_000}
	charge := models.Cost(models.Anthropic, m.Prices, usage, "")
	fmt.Printf("%s at %s: $%.4f for %d tokens\n", m.ID, m.Provider, charge.USD, charge.TotalInput+charge.TotalOutput)
	// Output:
	// claude-sonnet-4-5: 200000 tokens, catalog
	// claude-sonnet-4-5[1m]: 1000000 tokens, configured
	// my-llm: 32768 tokens, configured
	// no-idea: 128000 tokens, assumed
	// us.anthropic.claude-sonnet-4-5-20250929-v1:0 at bedrock: $0.0510 for 103000 tokens
}
