package table_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis/internal/table"
	"github.com/precis-dev/precis/internal/table/tabletest"
)

const programs = "# Programs\n\nprogram\tverbs\texample\texample\tcounterexample\n" +
	"npx\t-\tnpx jest\t-\tnpx\r\n" +
	"npm\t\texec  x\tnpm x jest | tail\tnpm exec jest\tnpm i"

func TestParse(t *testing.T) {
	tbl, err := table.Parse("programs.txt", programs, "program", "verbs")
	if err != nil {
		t.Fatal(err)
	}
	if len(tbl.Rows) != 2 {
		t.Fatalf("%d rows", len(tbl.Rows))
	}
	npx, npm := tbl.Rows[0], tbl.Rows[1]
	if npx.Get("verbs") != "" || len(npx.Words("verbs")) != 0 || npx.Place != "programs.txt:4" || npx.Get(table.Counterexample) != "npx" {
		t.Errorf("%+v", npx)
	}
	if found, ok := tbl.Find("npm"); !ok || found.Place != npm.Place || !slices.Equal(found.Words("verbs"), []string{"exec", "x"}) {
		t.Errorf("%+v, %v", found, ok)
	}
	if _, ok := tbl.Find("pnpm"); ok {
		t.Error("found a program that is not in the table")
	}
	if got := npm.All(table.Example); !slices.Equal(got, []string{"npm x jest | tail", "npm exec jest"}) {
		t.Errorf("%q", got)
	}
	if got := npx.All(table.Example); !slices.Equal(got, []string{"npx jest"}) {
		t.Errorf("%q", got)
	}
}

func TestParseNamesThePlaceOfAnError(t *testing.T) {
	for text, want := range map[string]string{
		"":                                    "a.txt: no line names the columns",
		"# only a comment\n":                  "a.txt: no line names the columns",
		"key\n":                               `a.txt:1: column 2 must be "value"`,
		"value\tkey\n":                        `a.txt:1: column 1 must be "key"`,
		"\nkey\tvalue\tnote\n":                `a.txt:2: unknown column "note"`,
		"key\tvalue\na\n":                     "a.txt:2: 1 fields, want 2: key, value",
		"key\tvalue\na\tb\tc\n":               "a.txt:2: 3 fields, want 2: key, value",
		"key\tvalue\na\tb\n# between\na\tc\n": `a.txt:4: duplicate key "a", first at a.txt:2`,
		"key\tvalue\na\t\xff\n":               "a.txt:2: invalid UTF-8",
		"key\tvalue\texample\tcounterexample\na\tb": "a.txt:2: 2 fields, want 4: key, value, example, counterexample",
	} {
		if _, err := table.Parse("a.txt", text, "key", "value"); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestLazyPanicsAtTheFirstCallOnly(t *testing.T) {
	load := table.Lazy("a.txt", "", "key")
	defer func() {
		if recover() == nil {
			t.Error("a malformed table was loaded")
		}
	}()
	load()
}

// recorder collects what a test would report.
type recorder struct {
	testing.TB
	errors []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

func TestExamplesFailWhereTheyMust(t *testing.T) {
	tbl, err := table.Parse("a.txt", "word\texample\tcounterexample\nred\ta red fox\t-\nblue\ta grey fox\ta blue fox\ngreen\t-\t-\n", "word")
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{TB: t}
	tabletest.Examples(r, tbl, func(row table.Row, example string) bool { return strings.Contains(example, row.Get("word")) })
	want := []string{`a.txt:3: "a grey fox" does not match`, `a.txt:3: "a blue fox" matches, but is a counterexample`, "a.txt:4: no example"}
	if !slices.Equal(r.errors, want) {
		t.Errorf("%q", r.errors)
	}
}
