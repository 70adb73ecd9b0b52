package models

import (
	"math"
	"strings"
)

const (
	// DefaultMaxOutput is the room for a reply, in tokens, if the model's limit is unknown.
	DefaultMaxOutput = 8192
	// ReasoningMaxOutput is the same for a model that thinks within a budget.
	ReasoningMaxOutput = 16384
)

// outputShare is the largest share of its window that a reply may claim.
const outputShare = 0.2

// OutputQuestion is the input of [MaxOutput].
type OutputQuestion struct {
	// ModelID is matched case-sensitively against Claude names.
	ModelID string
	// Window and MaxTokens are the model's, in tokens; MaxTokens zero means unknown.
	Window    int
	MaxTokens int
	// SupportsReasoningBudget and RequiresReasoningBudget describe the model;
	// EnableReasoning is the user's wish.
	SupportsReasoningBudget bool
	RequiresReasoningBudget bool
	EnableReasoning         bool
	// UserMaxTokens is the user's limit, used only for a model that thinks; zero means none.
	UserMaxTokens int
	// Format is the API dialect: "anthropic", "openai", "openrouter",
	// "gemini"; empty when not known.
	Format string
}

// MaxOutput returns how many tokens a reply may have, by the rule of Roo Code 3.52.1, and false
// when the request should not state a limit. A reply never claims more than a fifth of the window,
// except for GPT-5 models, for models that think within a budget, and for assumed limits.
func MaxOutput(q OutputQuestion) (tokens int, ok bool) {
	switch {
	case q.RequiresReasoningBudget, q.SupportsReasoningBudget && q.EnableReasoning:
		if q.UserMaxTokens != 0 {
			return q.UserMaxTokens, true
		}
		return ReasoningMaxOutput, true
	case q.speaksAnthropic() && (q.SupportsReasoningBudget || q.MaxTokens == 0):
		return DefaultMaxOutput, true
	case q.MaxTokens == 0:
		return DefaultMaxOutput, q.Format == ""
	case strings.Contains(strings.ToLower(q.ModelID), "gpt-5"):
		return q.MaxTokens, true
	}
	share := int(math.Ceil(float64(float64(q.Window) * outputShare)))
	return min(q.MaxTokens, share), true
}

func (q OutputQuestion) speaksAnthropic() bool {
	return strings.Contains(q.ModelID, "claude") ||
		q.Format == "anthropic" ||
		q.Format == "openrouter" && strings.HasPrefix(q.ModelID, "anthropic/")
}
