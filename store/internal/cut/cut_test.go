package cut

import (
	"fmt"
	"testing"
)

// branches is a tree: a trunk of six, a fork after three, one of the fork after
// four, and one that starts anew.
func branches() []Branch {
	return []Branch{{ID: 4, End: 2}, {ID: 1, End: 6}, {ID: 3, Parent: 2, Depth: 4, End: 6}, {ID: 2, Parent: 1, Depth: 3, End: 5}}
}

func TestCuts(t *testing.T) {
	recent := branches()
	recent[2].Recent = 5
	for _, c := range []struct {
		name string
		p    Plan
		want string
	}{
		{"nothing", Plan{}, "[]"},
		{"alone", Plan{Named: []Place{{4, 2}}}, "[{4 0}]"},
		{"what hangs on it goes", Plan{Named: []Place{{1, 6}}}, "[{1 0} {2 3} {3 4}]"},
		{"the part of another stays", Plan{Named: []Place{{1, 6}}, Kept: []Place{{3, 6}}}, "[{1 3}]"},
		{"it is what another needs", Plan{Named: []Place{{1, 2}}, Kept: []Place{{1, 6}}}, "[]"},
		{"the end of it", Plan{Named: []Place{{1, 6}}, Kept: []Place{{1, 2}}}, "[{1 2} {2 3} {3 4}]"},
		{"a fork", Plan{Named: []Place{{2, 5}}, Kept: []Place{{1, 6}}}, "[{2 3} {3 4}]"},
		{"the end of a fork", Plan{Named: []Place{{2, 5}}, Kept: []Place{{3, 5}}}, "[{2 4}]"},
		{"the same place twice", Plan{Named: []Place{{2, 5}}, Kept: []Place{{2, 5}}}, "[]"},
		{"all by age", Plan{ByAge: true}, "[{1 0} {2 3} {3 4} {4 0}]"},
		{"by age but one", Plan{ByAge: true, Kept: []Place{{2, 4}}}, "[{1 3} {2 4} {3 4} {4 0}]"},
		{"recent and nobody's", Plan{ByAge: true, Branches: recent, Aged: []Place{{1, 6}}}, "[{1 3} {2 4} {3 5} {4 0}]"},
		{"recent and of what is old", Plan{ByAge: true, Branches: recent, Aged: []Place{{3, 6}}}, "[{1 0} {2 3} {3 4} {4 0}]"},
		{"recent and named", Plan{ByAge: true, Branches: recent, Named: []Place{{1, 6}}}, "[{1 0} {2 3} {3 4} {4 0}]"},
		{"a place that is not there", Plan{Named: []Place{{9, 1}}}, "[]"},
	} {
		if c.p.Branches == nil {
			c.p.Branches = branches()
		}
		if got := fmt.Sprint(c.p.Cuts()); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
