package toolcall

import (
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis/internal/table"
	"github.com/precis-dev/precis/internal/table/tabletest"
)

// TestUnix: each example does what its entry says, and no entry before it fits.
func TestUnix(t *testing.T) {
	effects := map[string]string{"remove": "-a.txt", "move": "-b.txt +a.txt", "copy": "+a.txt", "copy all": "+a.txt", "copy of=": "+a.txt", "link": "+a.txt", "write": "+a.txt",
		"fetch": "+a.txt", "change": "~a.txt", "edit": "~a.txt", "touch": "~a.txt", "read": "<a.txt", "search": "?a.txt", "find": "**/a.txt", "xargs": "-a.txt"}
	tabletest.Examples(t, unixTable(), func(row table.Row, line string) bool {
		if row.Get("act") == "folder" {
			return slices.Equal(readShell(line).Folders, []string{"out"})
		}
		return strings.TrimSpace(did(line)) == effects[row.Get("act")]
	})
}

// TestFlagsOfUnix: what follows a flag is no file.
func TestFlagsOfUnix(t *testing.T) {
	for line, want := range map[string]string{
		"touch -r b.txt a.txt": "~a.txt", "grep -e 'x.y' -A 3 a.go": "?a.go", "curl -XPOST https://well.example/b": "", "curl -O https://well.example/b?c": "", "wget -P in https://well.example/b": "",
		"sed -i.save s/a/b/ a.txt": "~a.txt", "install -o ann -m 0644 b.txt a.txt": "+a.txt", "rm -- -a.txt": "--a.txt", "head -n 5 a.txt > b.txt": "+b.txt",
	} {
		if got := strings.TrimSpace(did(line)); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// TestCode: each example does what its entry says.
func TestCode(t *testing.T) {
	effects := map[string]string{"write": "+a.txt", "remove": "-a.txt", "move": "-b.txt +a.txt", "read": "~a.txt"}
	tabletest.Examples(t, codeTable(), func(row table.Row, code string) bool {
		r := readShell("")
		r.words = []word{{text: "python"}}
		r.code(strings.ReplaceAll(code, `\n`, "\n"))
		if row.Get("act") == "read" {
			r.code(code + "\nopen('a.txt', 'w')")
		}
		return strings.TrimSpace(signs(r)) == effects[row.Get("act")]
	})
}
