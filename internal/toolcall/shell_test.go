package toolcall_test

import (
	"strings"
	"testing"

	"precis/internal/toolcall"
)

func TestEffects(t *testing.T) {
	for _, tt := range []struct{ command, want string }{
		{"ls -la && cat a.go", ""},
		{"echo hi > out.txt", "out.txt"},
		{"echo hi >>logs/out.txt 2>/dev/null", "logs/out.txt"},
		{"go test ./... 2>&1 | tee test.log", "test.log"},
		{"sed -i 's/a > b/c/' src/x.py", "src/x.py"},
		{"sed 's/a/b/' x.py", ""},
		{"rm -rf build/old.js", "-build/old.js"},
		{"git mv a.go b.go", "-a.go b.go"},
		{"cat > src/app.ts <<'EOF'\nif (a > b) { x >> 2 }\nrm -f y\nEOF\necho done", "src/app.ts"},
		{"cat <<EOF | tee conf.yaml\nkey: v\nEOF", "conf.yaml"},
		{"apply_patch <<'X'\n*** Begin Patch\n*** Update File: a/b.go\n+x\n*** Delete File: c.go\n*** End Patch\nX", "a/b.go -c.go"},
		{`python -c "print(1 > 0)"`, ""},
		{"echo $HOME > $OUT", ""},
		{"FOO=1 touch a b", "a b"},
		{"echo 'unclosed", ""},
	} {
		var got []string
		for _, e := range toolcall.Effects(tt.command) {
			sign := ""
			if e.Removed {
				sign = "-"
			}
			got = append(got, sign+e.Path)
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%q: %s, want %s", tt.command, s, tt.want)
		}
	}
}

func FuzzEffects(f *testing.F) {
	f.Add("cat > a <<'E'\nx\nE\nsed -i s/a/b/ c")
	f.Fuzz(func(t *testing.T, command string) {
		for _, e := range toolcall.Effects(command) {
			if e.Path == "" {
				t.Fatalf("%q: an empty path", command)
			}
		}
	})
}
