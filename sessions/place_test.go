package sessions

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/precis-dev/precis/internal/table"
)

// Each entry of the table knows its example, unless whole folders are its recordings.
func TestPlacesTable(t *testing.T) {
	e := Environment{OS: "linux", Home: "/home/ada"}
	for _, row := range placesTable().Rows {
		roots := e.roots(row)
		if len(roots) == 0 {
			e := Environment{Env: func(string) string { return "/srv/kilo.db" }}
			roots = e.roots(row)
		}
		p := placeOf(row, roots[0], e.Home)
		found := func(file string) bool {
			for depth, name := range strings.Split(filepath.Dir(file), "/") {
				if name != "." && !p.leadsTo(name, depth) {
					return false
				}
			}
			return wanted(filepath.Join(p.Root, file), p)
		}
		examples := row.All(table.Example)
		if len(examples) == 0 && len(p.files) > 0 {
			t.Errorf("%s: no example", row.Place)
		}
		for _, x := range examples {
			if !found(x) {
				t.Errorf("%s: %s is not found", row.Place, x)
			}
		}
		for _, x := range row.All(table.Counterexample) {
			if found(x) {
				t.Errorf("%s: %s is found", row.Place, x)
			}
		}
		if !filepath.IsAbs(p.Root) || p.Agent == "" {
			t.Errorf("%s: %+v", row.Place, p)
		}
	}
}

// A variable moves a place, and only from its beginning.
func TestVariablesMovePlaces(t *testing.T) {
	set := map[string]string{"GEMINI_CLI_HOME": "/g", "XDG_DATA_HOME": "/d", "KILO_DB": "/k/kilo-dev.db", "PI_CODING_AGENT_DIR": "/p"}
	got := map[string]bool{}
	for _, p := range Places(Environment{OS: "linux", Home: "/home/ada", Env: func(name string) string { return set[name] }}) {
		got[p.Root] = true
	}
	for _, want := range []string{"/g/.gemini/tmp", "/d/opencode", "/d/kilo", "/k/kilo-dev.db", "/p/sessions", "/home/ada/.codex/sessions", "/home/ada/.config/Code/User/globalStorage/kilocode.kilo-code"} {
		if !got[want] {
			t.Errorf("%s is no place", want)
		}
	}
}
