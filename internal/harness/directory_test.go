package harness

import "testing"

func TestWorkingDirectory(t *testing.T) {
	for text, want := range map[string]string{
		"# Current Working Directory (/home/ann/site) Files\na.go":         "/home/ann/site",
		"<env>\nWorking directory: /srv/app\nIs directory a git repo: Yes": "/srv/app",
		"<environment_context>\n  <cwd>/repo</cwd>\n":                      "/repo",
		`# Current Workspace Directory (c:\x)`:                             "",
		`Current Working Directory (c:\Users\Ann\site) Files`:              `c:\Users\Ann\site`,
		"[Current working directory: /workspace/app]":                      "/workspace/app",
		"cwd: ~/work.": "~/work",
		"working directory: /old\nnow working directory = \"/new\",": "/new",
		"the working directory of the tests":                         "",
		"working directory\n/not/this":                               "",
		"":                                                           "",
	} {
		if got := WorkingDirectory(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
