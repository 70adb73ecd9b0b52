package digest_test

import (
	"regexp"
	"strings"
	"testing"
)

// A command that only looks says nothing when it ends well, unless it did not before.
func TestAQueryThatFailedIsTold(t *testing.T) {
	const address = "curl -sf http://localhost:7000/ready"
	for _, tt := range []struct {
		name string
		runs []bool // whether each failed
		want string
	}{
		{"it fails", []bool{true}, `ready. → FAILED, exit code 22`},
		{"it fails, then answers", []bool{true, true, false}, `ready. ×3 → ok \(2 of 3 runs failed\)`},
		{"it answers", []bool{false}, ""},
	} {
		k := &talker{}
		k.user("Bring the service up.")
		k.bash("make up", "Exit code 2\nport in use", true)
		for _, failed := range tt.runs {
			if failed {
				k.bash(address, "Exit code 22", true)
			} else {
				k.bash(address, `{"ready":true}`, false)
			}
		}
		k.assistant("That is all.")
		got := section(digested(t, 3000, k.msgs...), "Last results")
		if tt.want == "" {
			if strings.Contains(got, "ready") {
				t.Errorf("%s: it is told:\n%s", tt.name, got)
			}
		} else if !regexp.MustCompile(tt.want).MatchString(got) {
			t.Errorf("%s: no %q in:\n%s", tt.name, tt.want, got)
		}
	}
}

// Of the build of an image the line that names it is told, not what a step printed.
func TestABuiltImageIsNamed(t *testing.T) {
	k := &talker{}
	k.user("Build the image.")
	k.bash("docker build -t shop/api:2 .", "#6 1.20 ERROR_LEVEL=debug is set\n#8 exporting layers done\n#8 naming to docker.io/shop/api:2 done\n#8 DONE 0.2s", false)
	k.assistant("Built.")
	if got := section(digested(t, 3000, k.msgs...), "Last results"); !regexp.MustCompile(`naming to docker.io/shop/api:2`).MatchString(got) {
		t.Error(got)
	}
}
