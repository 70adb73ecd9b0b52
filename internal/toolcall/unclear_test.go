package toolcall

import "testing"

func TestUnclear(t *testing.T) {
	for _, tt := range []struct {
		command, line string
		want          bool
	}{
		{"python run.py 2>&1 | head -20", "RuntimeError: dropped elements", true},
		{"python run.py 2>&1 | head -20", "Error: dropped elements", true},
		{"./load.sh | tail -3", "fatal: no such file", true},
		{"python run.py", "RuntimeError: dropped elements", false}, // its exit code says that it is so meant
		{"python run.py | head -20", "errors are counted", false},
		{"go vet ./... && python run.py", "Error: dropped elements", false},
		{"", "", false},
	} {
		if got := Unclear(tt.command, tt.line); got != tt.want {
			t.Errorf("%q, %q: %t", tt.command, tt.line, got)
		}
	}
}
