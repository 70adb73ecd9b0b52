package models

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/precis-dev/precis"
)

// Override replaces numbers of one model of the catalog, or adds a model that the catalog lacks. A
// nil field leaves the number unchanged.
//
// ID is interpreted like in [Catalog.Find]. If it names a provider's own entry, that entry is
// changed, whatever name it is found by. If it only resembles one ("my-server/qwen3-32b"), a new
// model with exactly that ID is added as a copy of it. If it resembles no entry, a new model is
// added, with an assumed window unless Window is set.
type Override struct {
	ID string
	// Window and MaxOutput are in tokens and positive.
	Window    *int
	MaxOutput *int
	// Prices are in US dollars per million tokens, zero meaning free. An unstated cache price
	// equals the input price.
	Input      *float64
	Output     *float64
	CacheRead  *float64
	CacheWrite *float64
	// LongContext replaces the whole rule for long requests.
	LongContext *LongOverride
}

// LongOverride is a user's [LongContext]. Multipliers of zero, or absent ones, leave the price
// unchanged.
type LongOverride struct {
	// Threshold is in input tokens and positive.
	Threshold  int
	Input      float64
	Output     float64
	CacheRead  float64
	CacheWrite float64
	// Tiers limits the rule to some service tiers; empty means all of them.
	Tiers []string
}

func (l LongOverride) rule() *LongContext {
	r := &LongContext{
		Threshold: l.Threshold,
		Input:     l.Input, Output: l.Output,
		CacheRead: l.CacheRead, CacheWrite: l.CacheWrite,
		Source: precis.SourceConfigured,
	}
	if len(l.Tiers) > 0 {
		r.Tiers = slices.Clone(l.Tiers)
	}
	return r
}

func checkOverrides(list []Override) error {
	seen := make(overrideIDs, len(list))
	for i, o := range list {
		if err := seen.accept(o); err != nil {
			return fmt.Errorf("override %d (%q): %w", i+1, o.ID, err)
		}
	}
	return nil
}

// overrideIDs remembers which IDs have an override.
type overrideIDs map[string]bool

// accept checks o and notes its ID, which must be a new one.
func (seen overrideIDs) accept(o Override) error {
	if err := o.check(); err != nil {
		return err
	}
	key := strings.ToLower(strings.TrimSpace(o.ID))
	if seen[key] {
		return fmt.Errorf("id %q has an override already", o.ID)
	}
	seen[key] = true
	return nil
}

// check returns an error that names the offending field.
func (o Override) check() error {
	if strings.TrimSpace(o.ID) == "" {
		return errors.New("id is missing")
	}
	if err := errors.Join(positive("window", o.Window), positive("max_output", o.MaxOutput)); err != nil {
		return err
	}
	if err := errors.Join(
		price("input", o.Input), price("output", o.Output),
		price("cache_read", o.CacheRead), price("cache_write", o.CacheWrite),
	); err != nil {
		return err
	}
	if o.LongContext == nil {
		return nil
	}
	return o.LongContext.check()
}

func (l LongOverride) check() error {
	if err := positive("long_context.threshold", &l.Threshold); err != nil {
		return err
	}
	return errors.Join(
		price("long_context.input", &l.Input), price("long_context.output", &l.Output),
		price("long_context.cache_read", &l.CacheRead), price("long_context.cache_write", &l.CacheWrite),
	)
}

func positive(field string, n *int) error {
	if n != nil && *n <= 0 {
		return fmt.Errorf("%s must be positive, not %d", field, *n)
	}
	return nil
}

func price(field string, p *float64) error {
	if p != nil && (*p < 0 || math.IsNaN(*p) || math.IsInf(*p, 0)) {
		return fmt.Errorf("%s must be a number that is not negative, not %v", field, *p)
	}
	return nil
}
