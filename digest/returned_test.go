package digest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis/digest"
)

const returned = "Just returned, not acted on yet"

// asking is work that ends with the results of two calls in one message.
func asking() *talker {
	k := &talker{}
	k.user("Find the leaks that are left, and mend them.")
	k.assistant("The history is clean. Now I look at what is left.")
	k.call("Bash", map[string]any{"command": "jq -r .File leaks.json | sort | uniq -c"})
	k.result("108 base64: notes/log.md\n 45 hardcoded-ip: slate/summary.md\n 39 hardcoded-ip: slate/manual.md\n  4 credit-card: notes/log.md\n", false)
	return k
}

func TestWhatCameInLastIsTold(t *testing.T) {
	k := asking()
	got := digested(t, 1500, k.msgs...)
	lacks(t, "results", section(got, returned), "- m3 `jq -r .File leaks.json | sort | uniq -c`:", "108 base64: notes/log.md", "45 hardcoded-ip: slate/summary.md", "4 credit-card: notes/log.md")

	k.assistant("Most of it is noise.")
	if got = digested(t, 1500, k.msgs...); strings.Contains(got, returned) {
		t.Errorf("the agent has read it: %s", got)
	}

	k = asking()
	k.call("Read", map[string]any{"file_path": "slate/summary.md"})
	k.result("     1\t# Summary\n     2\tThe router is at 10.0.0.1.\n     3\tIt was replaced.\n", false)
	got = section(digested(t, 1500, k.msgs...), returned)
	if lacks(t, "a file", got, "- m5 Read slate/summary.md: "); strings.Contains(got, "10.0.0.1") || strings.Contains(got, "jq") {
		t.Errorf("a file can be read again, and the search was acted on: %s", got)
	}
	for name, result := range map[string]string{
		"one line":  "108 leaks",
		"refused":   refused + stop,
		"not there": "",
	} {
		k := asking()
		k.call("Bash", map[string]any{"command": "gitleaks detect"})
		k.result(result, name == "refused")
		if got := digested(t, 1500, k.msgs...); strings.Contains(got, returned) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestALongResultThatCameInLastIsCut keeps what says how it ended, and the size of the digest.
func TestALongResultThatCameInLastIsCut(t *testing.T) {
	var out strings.Builder
	for i := range 400 {
		fmt.Fprintf(&out, "=== RUN   TestOrder%d\n--- PASS: TestOrder%d (0.00s)\n", i, i)
	}
	out.WriteString("--- FAIL: TestLedger (0.00s)\n    ledger_test.go:88: got 3 entries, want 4\nFAIL\n")
	k := asking()
	k.call("Bash", map[string]any{"command": "go test ./..."})
	k.result(out.String(), true)
	for _, tokens := range []int{60, 150, 400, 900, 3500} {
		got := digested(t, tokens, k.msgs...)
		if n := digest.EstimateTokens(got); n > tokens {
			t.Errorf("%d tokens of %d", n, tokens)
		}
		if tokens >= 900 {
			lacks(t, "results", section(got, returned), "ledger_test.go:88: got 3 entries, want 4", "left out …]")
		}
	}
}

func TestTheNewestFilesReadAreTold(t *testing.T) {
	s := newSession(5)
	s.user("Split the shop.")
	for i := range 30 {
		s.call("Write", map[string]any{"file_path": fmt.Sprintf("%sinternal/partition%d/module%d.go", root, i, i), "content": s.source(fmt.Sprint("module", i, ".go"), 2)}, "File created successfully")
	}
	for i := range 4 {
		s.call("Read", map[string]any{"file_path": fmt.Sprintf("%sledger%d.go", root, i)}, s.source("ledger.go", 1))
	}
	s.says("I have read the ledger.")
	lacks(t, "files", section(digested(t, 1200, s.msgs...), "Files only read"), "ledger3.go", "ledger0.go")
}

// TestALineIsToldOnce: what a file says again and again is no news, brackets around a line are none either, and digits without their
// line say nothing.
func TestALineIsToldOnce(t *testing.T) {
	var file strings.Builder
	for i := range 40 {
		fmt.Fprintf(&file, "\t\t},\n\t}\n}\nfunc TestOrder%d(t *testing.T) {\n\tledger := openLedger(t, \"orders_archive\")\n\tif ledger.Total() != %d {\n\t\tt.Errorf(\"TotalOfOrders = %%d\", ledger.Total())\n\t}\n", i, 20000+i)
	}
	k := asking()
	k.call("Write", map[string]any{"file_path": "order_test.go", "content": file.String()})
	k.result("File created successfully", false)
	k.assistant("The tests are written.")
	got := digested(t, 1000, k.msgs...)
	lines := section(got, "Lines most likely to be needed again")
	if n := strings.Count(lines, `openLedger(t, "orders_archive")`); n > 1 || !strings.Contains(lines, "func TestOrder") {
		t.Errorf("told %d times: %s", n, lines)
	}
	for line := range strings.Lines(lines) {
		if s := strings.Trim(line, "-· \n\t"); s == "}" || s == "}," {
			t.Errorf("brackets: %s", lines)
			break
		}
	}
	names := strings.Split(strings.TrimSpace(section(got, "Also mentioned")), ", ")
	if i := slices.IndexFunc(names, func(name string) bool { return strings.Trim(name, "0123456789") == "" }); i >= 0 && names[0] != "" {
		t.Errorf("digits: %v", names)
	}
}

// TestOlderRequestsLeaveRoom: older requests and the newest take what the words of persons may take together.
func TestOlderRequestsLeaveRoom(t *testing.T) {
	k := &talker{}
	for i := range 40 {
		k.user(fmt.Sprintf("Request %d: %s.", i, strings.Repeat(fmt.Sprintf("look at part %d of the shop, ", i), 12)))
		k.bash(fmt.Sprintf("grep -rn part%d .", i), fmt.Sprintf("shop/part%d.go:7: func part%d()", i, i), false)
	}
	const tokens = 2000
	room := func(newest string) int {
		k.user(newest)
		got := section(digested(t, tokens, k.msgs...), "The user's requests")
		lacks(t, "the newest", got, newest[len(newest)-30:])
		return digest.EstimateTokens(got)
	}
	if n := room("And now the last part, which is alone."); n > tokens*35/100 {
		t.Errorf("%d tokens of %d", n, tokens)
	}
	if n := room("And now: " + strings.Repeat("this is what must be done, step by step. ", 65) + "That is all, begin with it now."); n > tokens*45/100 {
		t.Errorf("%d tokens of %d", n, tokens)
	}
}

// TestWhatStandsAroundAPatchIsNotTold: its first and last lines, the shell's words there and the name of the program say nothing.
func TestWhatStandsAroundAPatchIsNotTold(t *testing.T) {
	k := asking()
	k.call("shell", map[string]any{"command": []string{"bash", "-lc", "apply_patch <<'PATCH'\n*** Begin Patch\n*** Update File: web/cart.ts\n@@\n-const cartTotal = sumOfLines(lines)\n+const cartTotal = roundToCents(sumOfLines(lines))\n*** End Patch\nPATCH\n"}})
	k.result("Success. Updated the following files:\nM web/cart.ts\n", false)
	k.assistant("The total is rounded now.")
	for _, tokens := range []int{600, 1500} {
		got := digested(t, tokens, k.msgs...)
		lacks(t, "the patch", got, "roundToCents(sumOfLines(lines))")
		for _, frame := range []string{"apply_patch", "*** ", "PATCH"} {
			if strings.Contains(got, frame) {
				t.Errorf("%d tokens: %s: %s", tokens, frame, got)
			}
		}
	}
}
