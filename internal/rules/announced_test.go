package rules_test

import (
	"slices"
	"strings"
	"testing"

	"precis/internal/rules"
)

// TestWhatARuleAnnounces: a rule that ends in a colon is told with what it announces, and not at all where each entry of a list says
// itself what holds.
func TestWhatARuleAnnounces(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"a list": {"Each reply must have these parts:\n\n1. **Why** you do it\n2. the command\n\nThe tests are in t/.",
			[]string{"Each reply must have these parts:\n\n1. **Why** you do it\n2. the command"}},
		"an entry that would be one by itself": {"Each response should include:\n\n1. **Reasoning text** where you explain your plan\n2. At least one tool call with your command\n",
			[]string{"Each response should include:\n\n1. **Reasoning text** where you explain your plan\n2. At least one tool call with your command"}},
		"code": {"You MUST use this EXACT command to submit:\n\n```bash\ngit diff > p.txt && submit p.txt\n```\nThanks.",
			[]string{"You MUST use this EXACT command to submit:\n\n```bash\ngit diff > p.txt && submit p.txt\n```"}},
		"rules": {"Always follow these rules:\n- Never push to main.\n- Always run the tests before you commit.",
			[]string{"Never push to main.", "Always run the tests before you commit."}},
		"nothing":              {"Never use these words in a reply:", []string{"Never use these words in a reply:"}},
		"prose":                {"Never use these words in a reply:\n\nThe tests are red.", []string{"Never use these words in a reply:"}},
		"long code":            {"Always answer in this form:\n```\n" + strings.Repeat("x = 1\n", 200) + "```\n", []string{"Always answer in this form:"}},
		"open code":            {"Always answer in this form:\n```\nx = 1\n", []string{"Always answer in this form:"}},
		"in Chinese":           {"每次回复都必须包含以下部分：\n- 原因\n- 命令\n", []string{"每次回复都必须包含以下部分：\n- 原因\n- 命令"}},
		"said twice":           {"Never touch these files:\n- a.go\n- b.go\n\nNever touch these files:\n- c.go\n", []string{"Never touch these files:\n- a.go\n- b.go", "Never touch these files:\n- c.go"}},
		"letters":              {"Each commit message must have:\n  a) a subject\n  b) the number of the issue", []string{"Each commit message must have:\n  a) a subject\n  b) the number of the issue"}},
		"a list of two levels": {"Never touch these files:\n- gen/\n  - gen/a.go\n\n- b.go\nGo on.", []string{"Never touch these files:\n- gen/\n  - gen/a.go\n\n- b.go"}},
		"windows lines":        {"Never touch these files:\r\n- a.go\r\n- b.go\r\n", []string{"Never touch these files:\r\n- a.go\r\n- b.go"}},
		"a bold title":         {"**Never touch these files:**\n- a.go\n- b.go\n", []string{"**Never touch these files:**\n- a.go\n- b.go"}},
	} {
		got := rules.Texts(c.text)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, not %q", name, got, c.want)
		}
		for _, r := range got {
			if again := rules.Texts(r); len(again) != 1 || again[0] != r {
				t.Errorf("%s: alone it is %q", name, again)
			}
		}
	}
}

// TestALongListThatARuleAnnounces: as many entries as fit belong to it.
func TestALongListThatARuleAnnounces(t *testing.T) {
	got := rules.Texts("Never touch these files:\n" + strings.Repeat("- internal/generated/file.go\n", 60))
	if len(got) != 1 || len(got[0]) > 400 || strings.Count(got[0], "file.go") < 10 || !strings.HasSuffix(got[0], "file.go") {
		t.Errorf("%q", got)
	}
}
