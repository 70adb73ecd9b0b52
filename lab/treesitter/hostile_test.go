//go:build cgo && treesitter

package treesitter

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/precis-dev/precis/internal/outlineworker"
	"github.com/precis-dev/precis/outline"
)

// TestMain makes this program the process that parses, too.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "worker" {
		if err := errors.Join(outlineworker.Limit(), outlineworker.Serve(os.Stdin, os.Stdout, Parser{})); err != nil {
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// These cost a process that parses them itself up to a minute and twelve
// gigabytes. The caller of a worker pays for reading them by lines.
func TestHostileTextCostsTheCallerLittle(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	repeat := func(s string, size int) string { return strings.Repeat(s, size/len(s)) }
	for _, size := range []int{10_000, 20_000, 28_000} {
		for path, head := range map[string]string{
			"evil.py": "class Known:\n    pass\n", "evil.cs": "class Known\n{\n}\n", "Evil.java": "class Known {\n}\n", "evil.rs": "struct Known {\n}\n",
		} {
			content := head + map[string]string{
				"evil.py": repeat("/*", size/2) + repeat("*/", size/2), "evil.cs": "x = " + repeat("a<", size), "Evil.java": "x = " + repeat("a<", size), "evil.rs": repeat("%q(", size),
			}[path]
			w := outlineworker.New(outlineworker.Options{Command: []string{self, "worker"}})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got := outline.Parsed(w, path, content)
			runtime.ReadMemStats(&after)
			if err := w.Close(); err != nil {
				t.Error(err)
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > 2<<20 {
				t.Errorf("%s of %d bytes: %d bytes are allocated", path, size, n)
			}
			if diff := cmp.Diff(outline.Of(path, content), got); diff != "" {
				t.Errorf("%s of %d bytes: (-by lines +got)\n%s", path, size, diff)
			}
		}
	}
}
