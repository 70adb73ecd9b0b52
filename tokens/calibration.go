package tokens

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/precis-dev/precis"
)

// Bounds for reports. A report outside the ratios has another cause (an image, a missing cached
// part) and is ignored.
const (
	minRatio  = 0.5
	maxRatio  = 3.0
	minCount  = 500  // smaller requests are too imprecise
	learnRate = 0.25 // weight of a new report after the first few
)

// Calibration learns, for each owner and model, the ratio of the provider's tokens to those we
// count. Until an owner's model has reported, it uses the median ratio of at least three other
// owners, else the published factor of the model's family, see [FamilyFactor]. The zero value is
// ready to use and safe for concurrent use; its methods use the owner "".
type Calibration struct {
	mu     sync.RWMutex
	models map[string]map[string]ratio // by model and owner
	size   int                         // number of ratios

	counter string // counter of the counts; "": a vocabulary of OpenAI. Fixed at creation.
}

// counterEnds ends the counter in the key of a model's ratios.
const counterEnds = "\t"

// ratioKey returns the key of a model's ratios, which separates the counts of different counters.
func (c *Calibration) ratioKey(model string) string {
	if c.counter == "" {
		return model
	}
	return c.counter + counterEnds + model
}

// Most ratios that are kept, because clients choose the names of models and owners.
const mostRatios = 20_000

// leastOwners is how many owners must have reported before another owner uses the median of their
// ratios, so that one or two owners cannot shift the counts of others.
const leastOwners = 3

// ratio is the state for one model of an owner: the mean logarithm of the ratio and the number of
// reports.
type ratio struct {
	Log     float64 `json:"log"`
	Reports int     `json:"reports"`
}

// ForOwner returns the calibrator of an owner, a [precis.CalibrationState].
func (c *Calibration) ForOwner(owner string) precis.Calibrator {
	if owner == "" {
		return c
	}
	return owned{c, owner}
}

// Factor returns reported tokens divided by counted ones for the model.
func (c *Calibration) Factor(model string) float64 { return owned{c, ""}.Factor(model) }

// Observe records a request: the tokens we counted and the input tokens that the provider reported,
// cached ones included. Implausible reports are ignored. The first reports have equal weight; later
// ones have a weight of a quarter.
func (c *Calibration) Observe(model string, counted, reported int) {
	owned{c, ""}.Observe(model, counted, reported)
}

// Reports returns how many reports the model's factor is based on.
func (c *Calibration) Reports(model string) int {
	return owned{c, ""}.Reports(model)
}

// Key returns the key of the state of a model.
func (c *Calibration) Key(model string) string { return owned{c, ""}.Key(model) }

// State returns the learned state of a model, for [Calibration.SetState]; nil without reports.
func (c *Calibration) State(model string) []byte { return owned{c, ""}.State(model) }

// SetState replaces the state of a model, or of an owner's model, by its key. The error is
// [precis.CodeInvalid].
func (c *Calibration) SetState(key string, state []byte) error {
	var r ratio
	if err := json.Unmarshal(state, &r); err != nil {
		return precis.Errorf(precis.CodeInvalid, "read calibration", "%w", err)
	}
	if q := math.Exp(r.Log); !(q >= minRatio && q <= maxRatio) || r.Reports < 1 {
		return precis.Errorf(precis.CodeInvalid, "read calibration", "ratio %g of %d reports is impossible",
			q, r.Reports)
	}
	owner, model, ok := strings.Cut(key, ownerEnds)
	if !ok {
		owner, model = "", key
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.set(owner, model, r)
	return nil
}

func (c *Calibration) ratio(owner, model string) (ratio, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	r, ok := c.models[model][owner]
	return r, ok
}

// set stores a ratio. If there are too many, it drops an arbitrary other one. The lock must be
// held.
func (c *Calibration) set(owner, model string, r ratio) {
	if c.models == nil {
		c.models = map[string]map[string]ratio{}
	}
	of := c.models[model]
	if of == nil {
		of = map[string]ratio{}
		c.models[model] = of
	}
	if _, ok := of[owner]; !ok {
		c.size++
	}
	of[owner] = r
	if c.size > mostRatios {
		c.drop(owner, model)
	}
}

// drop removes some ratio other than the given one.
func (c *Calibration) drop(owner, model string) {
	for m, of := range c.models {
		for o := range of {
			if o == owner && m == model {
				continue
			}
			if delete(of, o); len(of) == 0 {
				delete(c.models, m)
			}
			c.size--
			return
		}
	}
}

// prior returns the assumed factor of a model before it has reported.
func (c *Calibration) prior(model string) float64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	of := c.models[c.ratioKey(model)]
	if len(of) < leastOwners && c.counter != "" {
		return 1
	}
	if len(of) < leastOwners {
		f, _ := FamilyFactor(model)
		return f
	}
	logs := make([]float64, 0, len(of))
	for _, r := range of {
		logs = append(logs, r.Log)
	}
	slices.Sort(logs)
	return math.Exp(logs[(len(logs)-1)/2])
}

// owned is the view of a [Calibration] for one owner.
type owned struct {
	c     *Calibration
	owner string
}

var (
	_ precis.CalibrationState = owned{}
	_ precis.OwnerCalibrator  = (*Calibration)(nil)
)

func (o owned) Factor(model string) float64 {
	if r, ok := o.c.ratio(o.owner, o.c.ratioKey(model)); ok {
		return math.Exp(r.Log)
	}
	return o.c.prior(model)
}

func (o owned) Observe(model string, counted, reported int) {
	if counted < minCount || reported <= 0 {
		return
	}
	q := float64(reported) / float64(counted)
	if q < minRatio || q > maxRatio {
		return
	}
	model = o.c.ratioKey(model)
	o.c.mu.Lock()
	defer o.c.mu.Unlock()
	r := o.c.models[model][o.owner]
	r.Reports++
	rate := max(learnRate, 1/float64(r.Reports))
	r.Log += rate * (math.Log(q) - r.Log)
	o.c.set(o.owner, model, r)
}

func (o owned) Reports(model string) int {
	r, _ := o.c.ratio(o.owner, o.c.ratioKey(model))
	return r.Reports
}

// ownerEnds ends the owner in a key; names of models and owners have no line break.
const ownerEnds = "\n"

func (o owned) Key(model string) string {
	model = o.c.ratioKey(model)
	if o.owner == "" && !strings.Contains(model, ownerEnds) {
		return model
	}
	return o.owner + ownerEnds + model
}

func (o owned) State(model string) []byte {
	r, ok := o.c.ratio(o.owner, o.c.ratioKey(model))
	if !ok {
		return nil
	}
	state, _ := json.Marshal(r) // numbers alone: cannot fail
	return state
}

func (o owned) SetState(key string, state []byte) error { return o.c.SetState(key, state) }

// FamilyFactor returns the published number of a model's tokens per o200k token, and whether the
// family is known; 1 when it is not. Claude models have no public vocabulary: about 1.18 up to 4.6,
// about 1.5 for Opus 4.7, 4.8 and the 5 family.
func FamilyFactor(model string) (factor float64, known bool) {
	name := strings.ToLower(model)
	if !strings.Contains(name, "claude") {
		return 1, strings.Contains(name, "gpt-4o") || strings.Contains(name, "gpt-5") ||
			strings.Contains(name, "gpt-4.1")
	}
	if newerClaude(name) {
		return 1.5, true
	}
	return 1.18, true
}

// newerClaude reports whether a model name, in lower case, is Opus 4.7 or later.
func newerClaude(name string) bool {
	for _, newer := range []string{"opus-4-7", "opus-4.7", "opus-4-8", "opus-4.8", "-5-5", "-5.5", "fable-5",
		"mythos-5", "opus-5", "sonnet-5", "haiku-5"} {
		if strings.Contains(name, newer) {
			return true
		}
	}
	return false
}

// Plain is a [precis.Calibrator] with the constant factor 1, for estimates that include their own
// factor.
type Plain struct{}

// Factor returns 1.
func (Plain) Factor(string) float64 { return 1 }

// Observe ignores the report.
func (Plain) Observe(string, int, int) {}

// Calibrator returns the calibrator for a counter, "" being the default one: a new [Calibration],
// or [Plain] for estimates with a factor of their own. A counter of another package begins with the
// factor 1, and its ratios are kept separately.
func Calibrator(counter string) precis.Calibrator {
	switch counter {
	case NameRoo, NameChars4:
		return Plain{}
	case "", NameO200k, NameCl100k:
		return &Calibration{}
	}
	return &Calibration{counter: counter}
}
