package words

import (
	"slices"
	"strings"
	"testing"
)

func TestForms(t *testing.T) {
	for word, want := range map[string]string{
		"fix": "fixed fixes fixing", "fixed": "fix fixing", "delete": "deleted deletes deleting deletion", "deletion": "delete deleting",
		"stop": "stopped stopping stops", "crashes": "crash crashed crashing", "dependency": "dependencies", "configure": "configuration configurations configuring",
		"relies": "rely relied relying", "authentication": "authenticate authenticating",
	} {
		got := forms(word)
		for _, w := range strings.Fields(want) {
			if !slices.Contains(got, w) {
				t.Errorf("%s has no form %s: %q", word, w, got)
			}
		}
		if slices.Contains(got, word) {
			t.Errorf("%s is a form of itself", word)
		}
	}
	for _, word := range []string{"", "go", "x2", "größe", "日", "parser_go", "2026", strings.Repeat("x", 128)} {
		if got := forms(word); got != nil {
			t.Errorf("%q has forms: %q", word, got)
		}
	}
	for _, c := range [][2]string{{"perform", "fix"}, {"universe", "unit"}, {"test", "text"}} {
		if slices.Contains(forms(c[0]), c[1]) {
			t.Errorf("%s is a form of %s", c[1], c[0])
		}
	}
}

func TestRelated(t *testing.T) {
	for word, want := range map[string]string{
		"auth": "login logins credential permission authentication", "logins": "auth credentials", "errors": "bug bugs failing crashed", "db": "database databases",
		"performance": "slow latency", "repairing": "fix fixed", "ship": "deployment released",
	} {
		got := related(word)
		for _, w := range strings.Fields(want) {
			if !slices.Contains(got, w) {
				t.Errorf("%s has no related word %s: %q", word, w, got)
			}
		}
	}
	if got := related("performed"); got != nil {
		t.Errorf("performed says as much as performance: %q", got)
	}
	if slices.Contains(related("slow"), "performed") {
		t.Error("slow says as much as performed")
	}
}

// Each row is words in lower case, each once, of two stems at least.
func TestTableOfRelatedWords(t *testing.T) {
	if len(rows()) < 50 {
		t.Fatalf("%d rows", len(rows()))
	}
	for _, r := range rows() {
		stems, seen := map[string]bool{}, map[string]bool{}
		for _, e := range r {
			if d := Distinct(e.word); len(d) != 1 || d[0] != e.word || seen[e.word] {
				t.Errorf("%q in %v", e.word, r)
			}
			seen[e.word], stems[e.stem] = true, true
		}
		if len(stems) < 2 {
			t.Errorf("%v is forms of one word", r)
		}
	}
}

// However short a text with the words themselves is, none with others goes before it.
func TestRanksDoNotMix(t *testing.T) {
	long := strings.Repeat("x ", textBytes/2-10)
	q := NewQuery("auth", false)
	exact, _ := q.Score(long + "auth")
	form, rank := NewQuery("fix", false).Score(long + "fixed")
	if rank != Form {
		t.Errorf("rank %d", rank)
	}
	best, rank := q.Score(strings.Repeat("login ", textBytes/6))
	if rank != Related || best >= exact || best >= form || best <= 0 {
		t.Errorf("related %v, rank %d; form %v, exact %v", best, rank, form, exact)
	}
	if most, _ := NewQuery("fix", false).Score(strings.Repeat("fixed ", textBytes/6)); most >= exact {
		t.Errorf("forms %v, exact %v", most, exact)
	}
}

func TestSteps(t *testing.T) {
	for text, want := range map[string][]Rank{"日本": {Exact}, "db": {Exact, Related}, "kestrel": {Exact, Form}, "fix it": {Exact, Form, Related}} {
		var got []Rank
		for _, s := range NewQuery(text, false).Steps() {
			got = append(got, s.Rank)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
		if n := len(NewQuery(text, true).Steps()); n != 1 {
			t.Errorf("%q exactly: %d steps", text, n)
		}
	}
}

func BenchmarkNewQuery(b *testing.B) {
	for b.Loop() {
		NewQuery("auth error in the database of the server", false)
	}
}
