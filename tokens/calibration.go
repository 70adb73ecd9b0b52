package tokens

import (
	"encoding/json"
	"math"
	"strings"
	"sync"

	"precis"
)

// The bounds of what is believed: a single report further off than this is
// another kind of count (an image, a cached part left out), not a ratio.
const (
	minRatio  = 0.5
	maxRatio  = 3.0
	minCount  = 500  // smaller requests say too little
	learnRate = 0.25 // weight of a new report once there are a few
)

// Calibration learns, for each model, how many tokens a provider reports for
// each token counted. Until a model has reported, it answers with the published
// factor of its family, see [FamilyFactor]. The zero value is ready to use and
// safe for concurrent use.
type Calibration struct {
	mu     sync.RWMutex
	models map[string]ratio
}

// ratio is the state for one model: the mean of the logarithm of the ratio and
// the number of reports.
type ratio struct {
	Log     float64 `json:"log"`
	Reports int     `json:"reports"`
}

// Factor returns reported tokens divided by counted ones for the model.
func (c *Calibration) Factor(model string) float64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if r, ok := c.models[model]; ok {
		return math.Exp(r.Log)
	}
	f, _ := FamilyFactor(model)
	return f
}

// Observe takes in one request: the tokens counted for it and the input tokens
// the provider reported, cached ones included. Reports that cannot be a ratio
// are ignored. The first reports weigh equally; later ones a quarter.
func (c *Calibration) Observe(model string, counted, reported int) {
	if counted < minCount || reported <= 0 {
		return
	}
	q := float64(reported) / float64(counted)
	if q < minRatio || q > maxRatio {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.models == nil {
		c.models = map[string]ratio{}
	}
	r := c.models[model]
	r.Reports++
	rate := max(learnRate, 1/float64(r.Reports))
	r.Log += rate * (math.Log(q) - r.Log)
	c.models[model] = r
}

// Reports returns how many reports the model's factor rests on.
func (c *Calibration) Reports(model string) int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.models[model].Reports
}

// State returns what was learned about a model, for [Calibration.SetState]; nil
// when nothing was.
func (c *Calibration) State(model string) []byte {
	c.mu.RLock()
	defer c.mu.RUnlock()
	r, ok := c.models[model]
	if !ok {
		return nil
	}
	state, _ := json.Marshal(r) // numbers alone: cannot fail
	return state
}

// SetState replaces what is known about a model. The error is
// [precis.CodeInvalid].
func (c *Calibration) SetState(model string, state []byte) error {
	var r ratio
	if err := json.Unmarshal(state, &r); err != nil {
		return precis.Errorf(precis.CodeInvalid, "read calibration", "%w", err)
	}
	if q := math.Exp(r.Log); !(q >= minRatio && q <= maxRatio) || r.Reports < 1 {
		return precis.Errorf(precis.CodeInvalid, "read calibration", "ratio %g of %d reports is impossible", q, r.Reports)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.models == nil {
		c.models = map[string]ratio{}
	}
	c.models[model] = r
	return nil
}

// FamilyFactor returns the published number of a model's tokens for each o200k
// token, and whether the family is known; 1 when it is not. Claude models have
// no public vocabulary: about 1.18 up to 4.6, about 1.5 for Opus 4.7 and the 5
// family.
func FamilyFactor(model string) (factor float64, known bool) {
	name := strings.ToLower(model)
	if !strings.Contains(name, "claude") {
		return 1, strings.Contains(name, "gpt-4o") || strings.Contains(name, "gpt-5") || strings.Contains(name, "gpt-4.1")
	}
	for _, newer := range []string{"opus-4-7", "opus-4.7", "-5-5", "-5.5", "fable-5", "mythos-5", "opus-5", "sonnet-5", "haiku-5"} {
		if strings.Contains(name, newer) {
			return 1.5, true
		}
	}
	return 1.18, true
}

// Plain is a [precis.Calibrator] that learns nothing: for estimates that carry
// their own factor.
type Plain struct{}

// Factor returns 1.
func (Plain) Factor(string) float64 { return 1 }

// Observe does nothing.
func (Plain) Observe(string, int, int) {}

// Calibrator returns the calibrator that belongs to a way of counting, "" being
// the default one: a new [Calibration], or [Plain] for estimates that carry a
// factor of their own.
func Calibrator(counter string) precis.Calibrator {
	if counter == NameRoo || counter == NameChars4 {
		return Plain{}
	}
	return &Calibration{}
}
