package strictyaml_test

import (
	"strings"
	"testing"

	"github.com/precis-dev/precis/internal/strictyaml"
)

// A file of another system has the same keys, on the same lines.
func TestMarksAndCarriageReturnsDoNotCount(t *testing.T) {
	const unix = "# one\n# two\n\nkey: 1 # three\nother: 2\n"
	for _, text := range []string{unix, strings.ReplaceAll(unix, "\n", "\r\n"), strictyaml.Mark + unix} {
		n, err := strictyaml.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var key *int
		err = strictyaml.Place("f", strictyaml.Each(n, strictyaml.Fields{"key": strictyaml.Count(&key)}))
		if err == nil || !strings.HasPrefix(err.Error(), "f:5: other: unknown key") || key == nil || *key != 1 {
			t.Errorf("%.20q: %v, %v", text, key, err)
		}
	}
}
