package experiments

import (
	"cmp"
	"slices"
)

// Trial is an experiment with whole configurations as arms: each conversation that takes part is
// managed by one of them from beginning to end.
type Trial struct {
	Name  string  // without "/"
	Share float64 // of the new conversations, in percent; more than 0, at most 100
	Arms  []Arm
}

// Arm is one of the configurations that a [Trial] compares.
type Arm struct {
	Name   string // without "/"; others are compared with the one named [Control]
	Weight int    // relative share of the conversations; 0 means 1
}

// Control is the name of the arm, or variant, that others are compared with.
const Control = "control"

// CheckTrials returns why trials cannot run together: a name is empty, repeated or contains "/", a
// weight or a share is out of range, or the shares exceed 100 percent together. The error is
// [precis.CodeInvalid].
func CheckTrials(trials []Trial) error {
	names, sum := map[string]bool{}, 0.0
	for _, t := range trials {
		if err := checkName("experiment", t.Name); err != nil {
			return err
		}
		if names[t.Name] {
			return invalidExperiment("two are named %q", t.Name)
		}
		names[t.Name] = true
		if !(t.Share > 0 && t.Share <= 100) {
			return invalidExperiment("the share of %q is %g, want more than 0 and at most 100 percent",
				t.Name, t.Share)
		}
		sum += t.Share
		if err := t.checkArms(); err != nil {
			return err
		}
	}
	if sum > 100 {
		return invalidExperiment("the shares are %g percent together, want at most 100: a conversation takes part in one", sum)
	}
	return nil
}

func (t Trial) checkArms() error {
	if len(t.Arms) == 0 {
		return invalidExperiment("%q has no arm", t.Name)
	}
	names := map[string]bool{}
	for _, a := range t.Arms {
		if err := checkName("arm", a.Name); err != nil {
			return err
		}
		if names[a.Name] {
			return invalidExperiment("two arms of %q are named %q", t.Name, a.Name)
		}
		names[a.Name] = true
		if a.Weight < 0 || a.Weight > maxWeight {
			return invalidExperiment("the weight of %q is %d, want 0 to %d", a.Name, a.Weight, maxWeight)
		}
	}
	return nil
}

// parts is how many parts conversations are divided into for shares: a hundredth of a percent each.
const parts = 10_000

// Assign returns the arm of a conversation by its ID, as "EXPERIMENT/ARM"; "" if it takes part in
// no trial. The trial and its arm are chosen by two independent hashes, regardless of the order of
// trials and arms. Changing the list of trials changes the assignment, so callers must store a
// conversation's arm.
func Assign(trials []Trial, conversation string) string {
	byName := func(a, b Trial) int { return cmp.Compare(a.Name, b.Name) }
	at := float64(hash("", conversation)%parts) / parts * 100
	for _, t := range slices.SortedFunc(slices.Values(trials), byName) {
		if at < t.Share {
			return t.Name + "/" + t.pick(conversation)
		}
		at -= t.Share
	}
	return ""
}

func (t Trial) pick(conversation string) string {
	arms := slices.SortedFunc(slices.Values(t.Arms),
		func(a, b Arm) int { return cmp.Compare(a.Name, b.Name) })
	total := uint64(0)
	for _, a := range arms {
		total += uint64(max(a.Weight, 1))
	}
	at := hash(t.Name, "id:"+conversation) % total
	for _, a := range arms {
		if at < uint64(max(a.Weight, 1)) {
			return a.Name
		}
		at -= uint64(max(a.Weight, 1))
	}
	return arms[0].Name // not reached
}
