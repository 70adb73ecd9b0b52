package models

// Shares is a context window divided for a progress bar. The percentages add up to 100 unless all
// parts are empty.
type Shares struct {
	CurrentPercent   float64 `json:"current_percent"`
	ReservedPercent  float64 `json:"reserved_percent"`
	AvailablePercent float64 `json:"available_percent"`
	// ReservedForOutput and AvailableSize are in tokens.
	ReservedForOutput int `json:"reserved_for_output"`
	AvailableSize     int `json:"available_size"`
}

// Distribution divides a window of the given number of tokens into the part that the conversation
// uses, the part reserved for the reply and the rest. Negative arguments count as zero. If
// maxTokens is zero or as large as the window, [DefaultMaxOutput] is reserved for the reply. If the
// parts exceed the window, the percentages are relative to their sum.
//
// The rule follows Roo Code 3.52.1.
func Distribution(window, contextTokens, maxTokens int) Shares {
	window, contextTokens = max(0, window), max(0, contextTokens)
	s := Shares{ReservedForOutput: DefaultMaxOutput}
	if maxTokens > 0 && maxTokens != window {
		s.ReservedForOutput = maxTokens
	}
	s.AvailableSize = max(0, window-contextTokens-s.ReservedForOutput)
	total := contextTokens + s.ReservedForOutput + s.AvailableSize
	s.CurrentPercent = percent(contextTokens, total)
	s.ReservedPercent = percent(s.ReservedForOutput, total)
	s.AvailablePercent = percent(s.AvailableSize, total)
	return s
}

func percent(part, total int) float64 {
	return float64(part) / float64(total) * 100
}
