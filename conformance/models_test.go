package conformance

import (
	"encoding/json"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/models"
)

func adaptCost(t *testing.T, input json.RawMessage) any {
	c := in[struct {
		Protocol  models.Protocol
		ModelInfo struct {
			InputPrice, OutputPrice, CacheReadsPrice, CacheWritesPrice float64
			LongContextPricing                                         *struct {
				ThresholdTokens            int
				InputPriceMultiplier       float64
				OutputPriceMultiplier      float64
				CacheReadsPriceMultiplier  float64
				CacheWritesPriceMultiplier float64
				AppliesToServiceTiers      []string
			}
		}
		InputTokens, OutputTokens, CacheCreationInputTokens, CacheReadInputTokens int
		ServiceTier                                                               string
	}](t, input)
	m := c.ModelInfo
	p := models.Prices{Input: m.InputPrice, Output: m.OutputPrice, CacheRead: m.CacheReadsPrice, CacheWrite: m.CacheWritesPrice}
	if l := m.LongContextPricing; l != nil {
		p.Long = &models.LongContext{
			Threshold: l.ThresholdTokens, Tiers: l.AppliesToServiceTiers,
			Input: l.InputPriceMultiplier, Output: l.OutputPriceMultiplier,
			CacheRead: l.CacheReadsPriceMultiplier, CacheWrite: l.CacheWritesPriceMultiplier,
		}
	}
	u := precis.Usage{Input: c.InputTokens, Output: c.OutputTokens, CacheRead: c.CacheReadInputTokens, CacheWrite: c.CacheCreationInputTokens}
	charge := models.Cost(c.Protocol, p, u, c.ServiceTier)
	return map[string]any{"totalInputTokens": charge.TotalInput, "totalOutputTokens": charge.TotalOutput, "totalCost": charge.USD}
}

func adaptMaxOutput(t *testing.T, input json.RawMessage) any {
	c := in[struct {
		ModelID string
		Model   struct {
			ContextWindow, MaxTokens                         int
			SupportsReasoningBudget, RequiredReasoningBudget bool
		}
		Settings struct {
			EnableReasoningEffort bool
			ModelMaxTokens        int
		}
		Format string
	}](t, input)
	n, ok := models.MaxOutput(models.OutputQuestion{
		ModelID: c.ModelID, Window: c.Model.ContextWindow, MaxTokens: c.Model.MaxTokens,
		SupportsReasoningBudget: c.Model.SupportsReasoningBudget, RequiresReasoningBudget: c.Model.RequiredReasoningBudget,
		EnableReasoning: c.Settings.EnableReasoningEffort, UserMaxTokens: c.Settings.ModelMaxTokens, Format: c.Format,
	})
	if !ok {
		return map[string]any{"maxOutputTokens": nil}
	}
	return map[string]any{"maxOutputTokens": n}
}
