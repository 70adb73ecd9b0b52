package toolcall_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/precis-dev/precis/internal/toolcall"
)

// TestProgramsThatRunOthers: what runs behind sudo with a user, a limit of time, and the shells of Windows is seen.
func TestProgramsThatRunOthers(t *testing.T) {
	for command, want := range map[string]string{
		"sudo -u ann git checkout -- a.go": "git checkout a.go", "timeout -k 5 10s git restore a.go": "git restore a.go", "nice -n 5 git reset --hard": "git reset --hard", "doas git clean -fd": "git clean",
		"timeout 5 rm a.go": "-a.go", "cmd /c del a.go": "-a.go", `powershell.exe -NoProfile -Command "Remove-Item a.go"`: "-a.go", "pwsh -c 'git checkout -- a.go'": "git checkout a.go",
		"mv -t dir a b": "-a +dir/a -b +dir/b", "cp -t dir/ a": "+dir/a", "env A=1 sudo rm a.go": "-a.go", "timeout": "", "sudo -u": "",
	} {
		var out []string
		for _, e := range toolcall.Effects(command) {
			out = append(out, map[bool]string{true: "-", false: "+"}[e.Removed]+e.Path)
		}
		for _, g := range toolcall.Find(native("Bash", fmt.Sprintf(`{"command":%q}`, command)))[0].Git {
			out = append(out, strings.Join(append([]string{g.By}, g.Paths...), " "))
		}
		if got := strings.Join(out, " "); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}

// TestWhatRanOfAFailedLine: a writer before the failure did, a branch may not have been taken.
func TestWhatRanOfAFailedLine(t *testing.T) {
	for command, want := range map[string]toolcall.Ran{
		"bash -lc 'echo x > a; make'": toolcall.Did, "bash -lc 'rm a && make' && x": toolcall.Maybe,
		"echo x > a && make": toolcall.Did, "rm a; make": toolcall.Did, "cp b a && make": toolcall.Maybe, "if test -f a; then rm a; fi; make": toolcall.Maybe,
		"make && rm a": toolcall.Maybe, "make > a": toolcall.Maybe, "cd x && echo y > a && make": toolcall.Did, "make && echo x > a; test": toolcall.Maybe,
	} {
		if all := toolcall.Effects(command); len(all) == 0 || all[len(all)-1].Ran != want {
			t.Errorf("%s: %+v", command, all)
		}
	}
}

// TestReadingACommandTakesSpaceInProportion: ten times the text takes no more than fifteen times the memory.
func TestReadingACommandTakesSpaceInProportion(t *testing.T) {
	times := func(s string) func(int) string { return func(n int) string { return strings.Repeat(s, n) } }
	for name, make := range map[string]func(int) string{
		"commands of git":   times("git add a/b.go && git commit -m x; "),
		"removed and made":  times("rm -rf a/b/c; mkdir -p a/b/c/d && echo x > a/b/c/d/e; "),
		"deep folders":      func(n int) string { return "rm a; touch " + strings.Repeat("a/", n) + "b" },
		"open quotation":    func(n int) string { return "echo 'x" + strings.Repeat(" git reset --hard;", n) },
		"open heredocs":     times("cat <<E > a.go\n"),
		"line ends of DOS":  times("rm a.go\r\n"),
		"bytes":             times("\x00\xff\xfe > \xff\n"),
		"shells in shells":  times("bash -c "),
		"prefixes":          times("sudo -u x timeout 5 "),
		"subshells":         times("(cd x && "),
		"paths":             func(n int) string { return "git checkout -- " + strings.Repeat("'a b/ü.go' ", n) },
		"html of templates": times("<!-- <x_report> "),
	} {
		size := func(n int) uint64 {
			command := make(n)
			least := ^uint64(0)
			for range 3 {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				fmt.Fprint(nothing{}, len(toolcall.Effects(command)), len(toolcall.Purposes(command)), toolcall.Prints(command))
				runtime.ReadMemStats(&after)
				least = min(least, after.TotalAlloc-before.TotalAlloc)
			}
			return least
		}
		if small, big := size(2000), size(20000); big > 15*small+64<<10 {
			t.Errorf("%s: %d bytes for ten times what took %d", name, big, small)
		}
	}
}

type nothing struct{}

func (nothing) Write(p []byte) (int, error) { return len(p), nil }

// TestAVeryLongCommandIsRead: ten million bytes, of one word and of many.
func TestAVeryLongCommandIsRead(t *testing.T) {
	for _, command := range []string{"rm " + strings.Repeat("x", 10<<20), strings.Repeat("git checkout -- a; ", 10<<20/19), "echo \"" + strings.Repeat("$(", 5<<20), strings.Repeat("/", 10<<20)} {
		toolcall.Effects(command)
		toolcall.Purposes(command)
	}
}
