package sample_test

import (
	"testing"

	"github.com/precis-dev/precis/internal/sample"
)

func selected(t *testing.T, n, of int) (out []int) {
	runs := sample.OneIn(t, n, n)
	for i := range of {
		if runs(i) {
			out = append(out, i)
		}
	}
	return out
}

func TestOneInSelectsEvenly(t *testing.T) {
	t.Setenv("PRECIS_ALL", "")
	for _, n := range []int{1, 2, 3, 9} {
		got := selected(t, n, 90)
		if len(got) != 90/n {
			t.Fatalf("one in %d selects %d of 90", n, len(got))
		}
		for i := range got[1:] {
			if got[i+1]-got[i] != n {
				t.Errorf("one in %d selects %v", n, got)
			}
		}
	}
	if got := selected(t, 0, 90); got != nil {
		t.Errorf("none selects %v", got)
	}
}

func TestSeedsRotateTheSelection(t *testing.T) {
	t.Setenv("PRECIS_ALL", "")
	first := map[int]bool{}
	for _, seed := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		t.Setenv("PRECIS_SEED", seed)
		got := selected(t, 9, 90)
		if again := selected(t, 9, 90); again[0] != got[0] {
			t.Errorf("seed %s selects %v, then %v", seed, got, again)
		}
		first[got[0]] = true
	}
	if len(first) < 3 {
		t.Errorf("eight seeds begin at %v only", first)
	}
}

func TestAllOverridesSampling(t *testing.T) {
	t.Setenv("PRECIS_ALL", "1")
	if got := selected(t, 0, 90); len(got) != 90 {
		t.Errorf("PRECIS_ALL runs %d of 90", len(got))
	}
	if got := sample.Of(1, 2, 3); got != 3 {
		t.Errorf("the size is %d, want 3", got)
	}
}
