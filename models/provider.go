package models

// providerAliases maps common names before a slash to provider IDs of the catalog, where they
// differ.
var providerAliases = map[string]string{
	"google":         "gemini",
	"googleai":       "gemini",
	"vertex":         "vertexai",
	"vertex_ai":      "vertexai",
	"google-vertex":  "vertexai",
	"amazon-bedrock": "bedrock",
	"azure-openai":   "azure",
	"x-ai":           "xai",
	"z-ai":           "zai",
	"zai-org":        "zai",
	"moonshotai":     "moonshot",
	"minimaxai":      "minimax",
	"deepseek-ai":    "deepseek",
	"github-copilot": "copilot",
	"github_copilot": "copilot",
	"fireworks_ai":   "fireworks",
	"opencode":       "opencode-zen",
	"alibaba":        "alibaba-singapore",
	"qwen":           "alibaba-singapore",
}

// providerOf returns the provider ID that a prefix names. It does not check that the catalog has
// that provider.
func providerOf(prefix string) string {
	if id, ok := providerAliases[prefix]; ok {
		return id
	}
	return prefix
}

// cloudRanks orders the resellers that precede all others: first those with the maker's list
// prices, then those with the widest catalogs.
var cloudRanks = map[string]int{
	"bedrock":        2,
	"bedrock-europe": 3,
	"vertexai":       4,
	"azure":          5,
	"openrouter":     6,
	"vercel":         7,
}

// rank orders the models a name could mean; lower is preferred.
func rank(m Model) int {
	switch {
	case m.Provider == "":
		return 0
	case m.Provider == makers[m.Family]:
		return 1
	}
	if r, ok := cloudRanks[m.Provider]; ok {
		return r
	}
	return 8
}
