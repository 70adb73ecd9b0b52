package preview

import "testing"

func TestCommandsSayWhatTheyPrint(t *testing.T) {
	for _, tt := range []struct {
		command string
		kind    Kind
		path    string
	}{
		{"ls -la src", Listing, ""},
		{"cd app && find . -name '*.go' | head -20", Listing, ""},
		{"grep -rn foo . 2>/dev/null | sort", Search, ""},
		{"sudo timeout 10 rg foo src/a.go", Search, "src/a.go"},
		{"git -C app diff HEAD~1", Diff, ""},
		{"git log --oneline", Log, ""},
		{"go test ./... 2>&1 | grep FAIL", Log, ""},
		{"sed -n '1,40p' lib/a.py", Code, "lib/a.py"},
		{"bash -lc \"cat src/x.ts\"", Code, "src/x.ts"},
		{"cat notes", "", ""},
		{"cat README.md; echo done", Prose, "README.md"},
		{"cat > a.py <<'EOF'\nls\nEOF\npython a.py", Log, ""},
		{"cat > a.py <<EOF\nls\nEOF\n", Log, ""},
		{"FOO=1 make", Log, ""},
		{"view", "", ""},
		{"", "", ""},
		{" && ; | ", Log, ""},
	} {
		if got := hintOfCommand(tt.command); got != tt.kind {
			t.Errorf("%q prints %q, want %q", tt.command, got, tt.kind)
		}
		if got := pathOfCommand(tt.command); got != tt.path {
			t.Errorf("%q shows %q, want %q", tt.command, got, tt.path)
		}
	}
}

func TestWordsOfFailure(t *testing.T) {
	for s, want := range map[string]bool{
		"error: it broke":                  true,
		"0 errors, 0 failed":               false,
		"2 errors":                         true,
		"compiled error_test.go":           false,
		"wrote internal/errors/errors.go":  false,
		"ValueError: no":                   true,
		"raised java.io.IOException: gone": true,
		"no problem":                       false,
		"FAIL":                             true,
		"thread panicked at x":             true,
		"failures=0":                       false,
		"TestErrorPath":                    false,
	} {
		if got := readRemarks(s).failure; got != want {
			t.Errorf("%q: %v", s, got)
		}
	}
	if r := readRemarks("== 3 failed, 120 passed, 2 errors in 4s =="); r.failed != 3 || r.passed != 120 || r.errors != 2 {
		t.Errorf("%+v", r)
	}
}
