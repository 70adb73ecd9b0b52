// Package experiments compares ways of condensing. An [Experiment] is a rung that gives each
// conversation one of several variants, [Outcomes] reads their results from recorded edits, and
// [Compare] reports which differences exceed chance.
package experiments

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/policy"
)

// Variant is one of the ways that an [Experiment] compares.
type Variant struct {
	// Name distinguishes it from the others; it contains no "/". Reports compare the others with
	// the variant named "control".
	Name string
	// Weight is the relative share of conversations that it gets; 0 means 1.
	Weight int
	// Strategy does the work. Required.
	Strategy policy.Strategy
}

// Experiment is a rung that gives each conversation one of several variants of that rung, which
// does the work. Its edits name the variant in [precis.EditReport.Variant], as
// "EXPERIMENT/VARIANT"; [Outcomes] and [Compare] report the results. It counts as a rung that calls
// a model, whatever its variants do. Make one with [New]. It is a [policy.Strategy] and, like its
// variants, safe for concurrent use.
type Experiment struct {
	name     string
	variants []Variant
	total    uint64 // of the weights
}

// maxWeight bounds a weight, so that the remainder of a hash is practically uniform.
const maxWeight = 1_000_000

// New returns an experiment. Names must be non-empty without "/", names of variants must be
// distinct, and their strategies must have the same name. Last resorts and experiments are not
// allowed as variants. The error is [precis.CodeInvalid] and names the fault.
func New(name string, variants ...Variant) (*Experiment, error) {
	if err := checkName("experiment", name); err != nil {
		return nil, err
	}
	if len(variants) == 0 {
		return nil, invalidExperiment("%q has no variant", name)
	}
	x := &Experiment{name: name}
	for _, v := range variants {
		if err := x.add(v); err != nil {
			return nil, err
		}
	}
	return x, nil
}

func (x *Experiment) add(v Variant) error {
	if err := checkName("variant", v.Name); err != nil {
		return err
	}
	for _, other := range x.variants {
		if other.Name == v.Name {
			return invalidExperiment("two variants of %q are named %q", x.name, v.Name)
		}
	}
	if v.Weight < 0 || v.Weight > maxWeight {
		return invalidExperiment("the weight of %q is %d, want 0 to %d", v.Name, v.Weight, maxWeight)
	}
	if v.Strategy == nil {
		return invalidExperiment("variant %q has no strategy", v.Name)
	}
	if policy.TraitsOf(v.Strategy).LastResort {
		return invalidExperiment("variant %q is a last resort; those cannot be compared", v.Name)
	}
	if _, nested := v.Strategy.(*Experiment); nested {
		return invalidExperiment("variant %q is an experiment itself", v.Name)
	}
	if v.Weight == 0 {
		v.Weight = 1
	}
	x.variants = append(x.variants, v)
	x.total += uint64(v.Weight)
	if got, want := v.Strategy.Name(), x.Name(); got != want {
		return invalidExperiment("variant %q is the rung %q, the first is %q", v.Name, got, want)
	}
	return nil
}

func checkName(what, name string) error {
	switch {
	case strings.TrimSpace(name) == "":
		return invalidExperiment("the name of the %s is empty", what)
	case strings.Contains(name, "/"):
		return invalidExperiment("the name %q of the %s holds a slash", name, what)
	}
	return nil
}

func invalidExperiment(format string, args ...any) error {
	return precis.Errorf(precis.CodeInvalid, "make experiment", format, args...)
}

// Name returns the name of the variants' rung, so that the experiment takes its place on the
// ladder.
func (x *Experiment) Name() string { return x.variants[0].Strategy.Name() }

// Traits returns what the ladder has to know of the rung.
func (x *Experiment) Traits() policy.Traits { return policy.Traits{UsesModel: true} }

// Propose has the conversation's variant propose an edit. The result names the variant, even with
// an error.
func (x *Experiment) Propose(ctx context.Context, s *policy.Situation) (precis.Edit, error) {
	conv := s.Conversation
	if conv == nil {
		conv = &precis.Conversation{Transcript: s.Transcript}
	}
	v := x.Assign(conv)
	e, err := v.Strategy.Propose(ctx, s)
	e.Report.Variant = x.name + "/" + v.Name
	return e, err
}

// Assign returns the variant of a conversation, chosen in proportion to the weights by a hash of
// the experiment's name and the conversation's ID or, without an ID, its first message. So a
// conversation keeps its variant while it grows, on every replica, and experiments are independent
// of each other. Conversations without an ID that begin with the same message share a variant.
func (x *Experiment) Assign(conv *precis.Conversation) Variant {
	at := hash(x.name, identity(conv)) % x.total
	last := len(x.variants) - 1
	for _, v := range x.variants[:last] {
		if at < uint64(v.Weight) {
			return v
		}
		at -= uint64(v.Weight)
	}
	return x.variants[last]
}

// hash returns a pseudorandom number that is the same everywhere.
func hash(name, identity string) uint64 {
	sum := sha256.Sum256([]byte(name + "\x00" + identity))
	return binary.BigEndian.Uint64(sum[:])
}

// identity returns a stable identity of a conversation.
func identity(conv *precis.Conversation) string {
	switch {
	case conv == nil:
		return "first:" + precis.Fingerprint{}.String()
	case conv.ID != "":
		return "id:" + conv.ID
	}
	return "first:" + conv.Transcript.Fingerprint(1).String()
}
