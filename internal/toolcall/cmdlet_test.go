package toolcall

import (
	"fmt"
	"strings"
	"testing"

	"github.com/precis-dev/precis/internal/table"
	"github.com/precis-dev/precis/internal/table/tabletest"
)

// did returns all that a line does to files.
func did(line string) string { return signs(readShell(line)) }

// signs writes what a reader found.
func signs(r *shellReader) string {
	var out []string
	for _, e := range r.Effects {
		sign := map[bool]string{true: "-", false: "~"}[e.Removed]
		if e.Whole {
			sign = "+"
		}
		out = append(out, sign+e.Path)
	}
	for _, p := range r.Reads {
		out = append(out, "<"+p)
	}
	for _, p := range r.Searched {
		out = append(out, "?"+p)
	}
	return strings.Join(append(out, r.Swept...), " ")
}

func TestCmdlets(t *testing.T) {
	effects := map[string]string{"remove": "-a.txt", "move": "-a.txt +b.txt", "copy": "+b.txt", "rename": "-a.txt +b.txt", "fetch": "+a.txt", "make": "+a.txt", "write": "+a.txt", "change": "~a.txt", "read": "<a.txt", "search": "?a.txt"}
	tabletest.Examples(t, cmdlets(), func(row table.Row, line string) bool {
		if row.Get("act") == "look" {
			return !strings.ContainsAny(did(line), "+-~") && Queries(line)
		}
		return did(line) == effects[row.Get("act")]
	})
}

func TestWordsOfCmdlets(t *testing.T) {
	for line, want := range map[string]string{
		`Remove-Item -Recurse -Force "src\\old dir", b.txt -ErrorAction SilentlyContinue`: "-src/old dir -b.txt",
		`Remove-Item -Path a.txt,b.txt -Exclude c.txt`:                                    "-a.txt -b.txt",
		`rm .\a.txt -ErrorAction Ignore; rm -rf c`:                                        "-a.txt -c",
		`New-Item -Path src -Name a.txt -ItemType File -Force | Out-Null`:                 "+src/a.txt",
		`Out-File -Append -FilePath a.txt -InputObject x`:                                 "~a.txt",
		`Copy-Item -Path src -Destination dst -Recurse -Verbose -ErrorAction Stop`:        "+dst",
		`Get-Content a.txt, b.txt -Tail 5`:                                                "<a.txt <b.txt",
		`cp -r src dst`:                                                                   "+dst",
		`cat a.txt -n`:                                                                    "<a.txt",
	} {
		if got := did(line); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
	for line, want := range map[string]bool{"Get-ChildItem src | Select-Object -First 3": true, "Get-Content a | Set-Content b": false, "Remove-Item a": false} {
		if Queries(line) != want {
			t.Error(fmt.Sprint(line, " looks only: ", !want))
		}
	}
}
