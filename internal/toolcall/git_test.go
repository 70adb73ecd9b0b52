package toolcall

import (
	"strings"
	"testing"

	"github.com/precis-dev/precis/internal/table"
	"github.com/precis-dev/precis/internal/table/tabletest"
)

// TestGitTable: each example is a command to which its entry applies, and no other of its subcommand.
func TestGitTable(t *testing.T) {
	for verb, v := range gitVerbs() {
		for _, e := range v.entries {
			if last := e.Place == v.entries[len(v.entries)-1].Place; last != (len(e.needs) == 0) {
				t.Errorf("%s: the last entry of %s, and no other, must fit all its commands", e.Place, verb)
			}
		}
	}
	tabletest.Examples(t, gitTable(), func(row table.Row, line string) bool {
		words := strings.Fields(line)[1:]
		v, g := gitVerbs()[words[0]], Git{}
		g.arguments(words[1:], v.values)
		return v.entry(&g.options).Place == row.Place
	})
}

func TestGitCommands(t *testing.T) {
	for _, tt := range []struct{ command, want string }{
		{"git checkout -- sum.go", "index>tree sum.go not"},
		{"git checkout HEAD -- 'my file.go'", "index>tree my file.go at HEAD not"},
		{"git checkout sum.go", "index>tree sum.go at sum.go either not"},
		{"git checkout -b topic main", ">branch on topic not"},
		{"git checkout -f", "head>tree index either not"},
		{"git checkout -p a.go", "unknown>tree a.go not"},
		{"git checkout -- $FILES", ">said not"},
		{"git checkout :/", "index>tree . at :/ either not"},
		{"git restore a.go b.go", "index>tree a.go b.go not"},
		{"git restore -SW a.go", "head>tree index a.go not"},
		{"git restore --source=HEAD~2 a.go", "head>tree a.go at HEAD~2 not"},
		{"git restore -s HEAD~2 -- a.go", "head>tree a.go at HEAD~2 not"},
		{"git -C /w/sub restore a.go", "index>tree /w/sub/a.go not"},
		{"cd /w && git restore a.go && go test", "index>tree /w/a.go did"},
		{"git reset --hard HEAD~1", "head>back tree index cleared at HEAD~1 not"},
		{"git reset HEAD -- a.go", "head>back index a.go at HEAD not"},
		{"git stash push -m 'x y' -- a.go", "tracked>stash a.go not"},
		{"git stash save 'a b'", "tracked>stash not"},
		{"git stash apply stash@{1}", "stash>tree at stash@{1} not"},
		{"git clean -nd", ">said not"},
		{"git add -A && git commit -qm 'a > b'", "tree>index did | index>commit not"},
		{"git commit --amend -am x", "tracked>commit not"},
		{"go test ./... && git checkout -- a.go", "index>tree a.go not"},
		{"go test ./...; git checkout -- a.go; go vet", "index>tree a.go did"},
		{"go build && git checkout -- a.go && go test", "index>tree a.go maybe"},
		{"make || git checkout -- a.go", "index>tree a.go not else"},
		{"git diff > a.patch && git stash", "> after 1 did | tracked>stash after 1 not"},
		{"git mv a.go b.go", "tree>index a.go b.go a.go b.go after 2 not"},
		{"git switch -c fix/x main", ">branch on fix/x not"},
		{"git branch -m old new", ">renamed on new not"},
		{"git -c a=b log", "> not"},
		{"git frob a.go", ">unknown moved not"},
		{"echo git checkout -- a.go", ""}, {"git", ""}, {"git -C", ""},
		{"bash -lc 'git checkout -- a.go'", "index>tree a.go not"},
		{"sudo git reset --hard", "head>back tree index cleared not"},
	} {
		var out []string
		for _, g := range readShell(tt.command).Git {
			words := append([]string{g.From + ">" + strings.Join(g.To, " ")}, g.Paths...)
			for _, f := range []struct {
				on   bool
				word string
			}{{len(g.Commits) > 0, "at " + strings.Join(g.Commits, " ")}, {g.Branch != "", "on " + g.Branch}, {g.Either, "either"}, {g.After == 1, "after 1"}, {g.After == 2, "after 2"}} {
				if f.on {
					words = append(words, f.word)
				}
			}
			words = append(words, [...]string{"maybe", "did", "not"}[g.Ran])
			if g.Else {
				words = append(words, "else")
			}
			out = append(out, strings.Join(words, " "))
		}
		if got := strings.Join(out, " | "); got != tt.want {
			t.Errorf("%s\n got %q\nwant %q", tt.command, got, tt.want)
		}
	}
}

// TestPlacesOfGit: the folder that a command of git runs in, as far as the line says.
func TestPlacesOfGit(t *testing.T) {
	for command, want := range map[string]string{
		"git -c a=b status -s && git log":                             "status; log",
		"cd /a && git -C b status":                                    "/a/b status",
		"cd ../a && git status; cd b && git log; cd /c && git add -A": "../a status; ../a/b log; /c add",
		"cd $ROOT && git status":                                      "$ROOT status",
		"cd ~/x && git status":                                        "~/x status",
		"cd a && git status && cd .. && git log":                      "a status; log",
		"(cd ../a && git status); git log":                            "../a status; log",
		"bash -lc 'cd /a; git checkout -b x || git log' && true":      "/a checkout; /a log",
		"echo git status":                                             "",
	} {
		var out []string
		for _, g := range readShell(command).Git {
			out = append(out, strings.TrimSpace(g.Place+" "+g.Verb))
		}
		if got := strings.Join(out, "; "); got != want {
			t.Errorf("%s: %s", command, got)
		}
	}
	c := Call{Line: "git status", input: []byte(`{"command":["bash","-lc","git status"],"workdir":"/w"}`)}.commanded()
	if len(c.Git) != 1 || c.Git[0].Place != "/w" {
		t.Errorf("%+v", c.Git)
	}
}

func TestFlagsOfGit(t *testing.T) {
	g, _ := (&shellReader{}).git([]string{"commit", "-qam", "x", "-m", "y", "--author=me", "--", "a.go"})
	if g.Value("-m", "--message") != "x" || g.Value("--author") != "me" || !g.Has("-a") || g.Has("-s") || len(g.Names) != 1 {
		t.Errorf("%+v", g)
	}
}
