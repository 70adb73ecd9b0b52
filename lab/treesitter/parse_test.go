//go:build cgo && treesitter

package treesitter

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/precis-dev/precis/outline"
)

var update = flag.Bool("update", false, "write what is found into the samples of package outline")

func TestEverySampleIsParsed(t *testing.T) {
	files, err := filepath.Glob("../../outline/testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples (%v)", err)
	}
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for _, d := range outline.Parsed(Parser{}, a.Files[0].Name, string(a.Files[0].Data)) {
			line := fmt.Sprintf("%s%d-%d %s %s", strings.Repeat("  ", d.Depth), d.Start, d.End, d.Kind, d.Name)
			got.WriteString(strings.TrimRight(line, " ") + "\n")
		}
		i := slices.IndexFunc(a.Files, func(f txtar.File) bool { return f.Name == "want" })
		if *update {
			a.Files[i].Data = []byte(got.String())
			if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(string(a.Files[i].Data), got.String()); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", a.Files[0].Name, diff)
		}
	}
}
