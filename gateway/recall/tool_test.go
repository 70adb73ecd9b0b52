package recall

import "testing"

// FuzzReadInput: whatever a model writes, it is read or a problem is named.
func FuzzReadInput(f *testing.F) {
	for _, s := range []string{`{"handle":"m12","offset":3}`, `{"search":"words"}`, `{"handle":7}`, `[`, ``} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		in, problem := ReadInput(raw)
		if (problem == "") != ((in.Handle == "") != (in.Search == "")) || in.Offset < 0 {
			t.Errorf("%+v %q", in, problem)
		}
	})
}
