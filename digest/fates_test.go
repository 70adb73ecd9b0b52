package digest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/digest/effects"
)

// fatesOf returns the paths of a conversation with their states, sorted.
func fatesOf(msgs []precis.Message) string {
	var out []string
	for _, f := range digest.StateOf(&precis.Conversation{Transcript: precis.NewTranscript(msgs...)}).Files {
		out = append(out, strings.TrimPrefix(f.Path, "/r/")+" "+string(f.State))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// TestWhatALineWroteBeforeItFailedStands: of a list of commands that failed, what came before the failure was done.
func TestWhatALineWroteBeforeItFailedStands(t *testing.T) {
	for _, tt := range []struct {
		step, want string
	}{
		{"! cd /r && cat > a.py <<'E'\nx\nE\npython a.py -> Traceback (most recent call last):", "a.py created"},
		{"! cd /r && cat > a.py <<'E' && python a.py\nx\nE -> Traceback (most recent call last):", "a.py created"},
		{"! cd /r; rm a.py; make -> make: *** [all] Error 1", "a.py deleted"},
		{"! cd /r && make && rm a.py -> make: *** [all] Error 1", "a.py unknown"},
		{"! cd /r && cp b.py a.py && make -> make: *** [all] Error 1", "a.py unknown"},
		{"! cd /r && make > a.log -> make: *** [all] Error 1", "a.log unknown"},
	} {
		if got := fatesOf(worker(tt.step)); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.step, got, tt.want)
		}
	}
}

func TestAFileThatWasThereIsNotCreatedWhenItIsMadeAgain(t *testing.T) {
	if got := fatesOf(worker("read a.go", "$ cd /r && rm a.go", "$ cd /r && echo x > a.go")); got != "a.go written" {
		t.Error(got)
	}
	if got := fatesOf(worker("new a.go", "$ cd /r && rm a.go", "$ cd /r && echo x > a.go")); got != "a.go created" {
		t.Error(got)
	}
	if got := fatesOf(worker("$ cd /r && rm -rf out && mkdir -p out/src && echo x > out/src/a.go")); got != "out/src/a.go created" {
		t.Error(got)
	}
	if got := fatesOf(worker("$ cd /r && rm -rf out && echo x > out/src/a.go")); got != "out/src/a.go created" {
		t.Error(got)
	}
}

// TestTheDigestSaysWhatItDoesNotKnow: a change whose end is not known, and a commit that was none.
func TestTheDigestSaysWhatItDoesNotKnow(t *testing.T) {
	msgs := worker("! cd /r && make && rm a.py -> make: *** [all] Error 1", "! git commit -m x -> On branch main\nnothing to commit, working tree clean")
	got := digested(t, 2000, msgs...)
	for _, want := range []string{"a.py not known whether its newest change was made", "FAILED, exit code 1: nothing to commit, working tree clean"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// TestVeryManyActsOfGitAreBounded: files are compared with so many acts only; then it is not known what stands in them.
func TestVeryManyActsOfGitAreBounded(t *testing.T) {
	const n = 3000
	var files, acts strings.Builder
	for i := range n {
		fmt.Fprintf(&files, "echo x > d%d/f%d; ", i, i)
		fmt.Fprintf(&acts, "git checkout -- z%d; ", i)
	}
	few := worker("$ "+files.String(), "$ git checkout -- z; git checkout -- zz")
	if got := fatesOf(few); strings.Contains(got, "unknown") {
		t.Error("two acts are too many")
	}
	for _, f := range digest.StateOf(&precis.Conversation{Transcript: precis.NewTranscript(worker("$ "+files.String(), "$ "+acts.String())...)}).Files {
		if f.State != effects.FileUnknown || f.By != "git checkout" {
			t.Fatalf("%+v", f)
		}
	}
}
