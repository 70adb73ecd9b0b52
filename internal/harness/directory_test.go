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

func TestBranch(t *testing.T) {
	for text, want := range map[string]string{
		"Working directory: /r\nCurrent branch: release/2\n":                 "release/2",
		"  - Git branch: main":                                               "main",
		"# Git Status\n## feat/x...origin/feat/x [ahead 1]\n M a.go\n":       "feat/x",
		"<git_status>\n## v1.2-fixes\n</git_status>":                         "v1.2-fixes",
		"Main branch (you will usually use this for PRs): main":              "",
		"What is the current branch: I do not know":                          "",
		"# Git Status\n\n# Other\n## heading of something else that follows": "",
		"": "",
	} {
		if got := Branch(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
