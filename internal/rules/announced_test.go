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

// TestListsOfRules: what stands in a list under a title of rules is a rule where it is an order, and so is what is said of each of the
// things that the agent makes, with its list.
func TestListsOfRules(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"each reply":         {"For each reply:\n\n1. Give your reason\n2. Provide one command to run\n", []string{"For each reply:\n\n1. Give your reason\n2. Provide one command to run"}},
		"each commit":        {"Each commit should:\n- have a subject\n- name the ticket\n", []string{"Each commit should:\n- have a subject\n- name the ticket"}},
		"principles":         {"Principles:\n- Look at the code first\n- Record your findings\nThe tests are in t/.", []string{"Look at the code first", "Record your findings"}},
		"a bold title":       {"**Principes :**\n- Documente tes découvertes\n- Favorise la clarté\n", []string{"Documente tes découvertes", "Favorise la clarté"}},
		"a title with words": {"Commit rules:\n* Sign all of them\n* Squash the fixups\n", []string{"Sign all of them", "Squash the fixups"}},
		"a heading":          {"## Working rules\n\n- Read the code first\n- Explain the plan\n\nFind the bug in the loader.", []string{"Read the code first", "Explain the plan"}},
		"nouns":              {"Guard rails:\n- small commits\n- readable code\n", []string{"small commits", "readable code"}},
		"German":             {"Leitplanken:\n- Lies zuerst den Code\n- Erkläre den Plan\n", []string{"Lies zuerst den Code", "Erkläre den Plan"}},
		"in German, each":    {"Für jede Antwort:\n- Nenne den Grund\n- Gib einen Befehl an\n", []string{"Für jede Antwort:\n- Nenne den Grund\n- Gib einen Befehl an"}},
		"in French, each":    {"Pour chaque réponse :\n- Donne la raison\n- Indique une commande\n", []string{"Pour chaque réponse :\n- Donne la raison\n- Indique une commande"}},
		"Spanish":            {"Reglas:\n- Lee primero el código\n- Explica el plan\n", []string{"Lee primero el código", "Explica el plan"}},
		"Russian":            {"Правила:\n- Сначала прочитай код\n- Объясни план\n", []string{"Сначала прочитай код", "Объясни план"}},
		"Chinese":            {"原则：\n- 先读代码\n- 写清楚提交信息\n", []string{"先读代码", "写清楚提交信息"}},
		"Japanese":           {"ルール：\n- まずコードを読む\n- コミットは小さく\n", []string{"まずコードを読む", "コミットは小さく"}},
		"Korean":             {"규칙:\n- 먼저 코드를 읽는다\n- 커밋은 작게 나눈다\n", []string{"먼저 코드를 읽는다", "커밋은 작게 나눈다"}},
		"a pair":             {"- CHANGE: files in src/\n- DO NOT CHANGE: files in gen/\n", []string{"CHANGE: files in src/", "DO NOT CHANGE: files in gen/"}},
		"a German pair":      {"- ÄNDERN: Dateien in src\n- NICHT ÄNDERN: Dateien in gen\n", []string{"ÄNDERN: Dateien in src", "NICHT ÄNDERN: Dateien in gen"}},
		"a tag":              {"<IMPORTANT>Never push to main.</IMPORTANT>\nMend the loader.", []string{"Never push to main."}},

		"rules of a product":      {"Validation rules:\n- Reject empty names\n- Trim the spaces\n", nil},
		"rules of a business":     {"Business rules:\n- Apply the discount once\n- Round the total\n", nil},
		"steps":                   {"Steps:\n1. Open the file\n2. Run the loader\n", nil},
		"each row":                {"For each row:\n- show the name\n- add a button\n", nil},
		"each card":               {"Each card should:\n- show a title\n- link to the page\n", nil},
		"where rules are":         {"The rules are in these files:\n- a.md\n- b.md\n", nil},
		"files":                   {"Rules:\n- a.md\n- b.md\n", nil},
		"behind the list":         {"Rules:\n- Read the code first\n\nNow open the file.\n- Run the loader\n", []string{"Read the code first"}},
		"what was done":           {"- ADDED: a menu\n- REMOVED: the footer\n", nil},
		"the next part":           {"For each reply:\n- Give your reason\n\n## Parts\n\n- the loader\n", []string{"For each reply:\n- Give your reason"}},
		"a part of a plan":        {"**4.2 Constraints:**\n- Handle the load of the page\n", nil},
		"a label by itself":       {"- CHANGE: the header is blue\n- FIX: the footer is grey\n", nil},
		"each reply, and no more": {"For each reply:\nthe client waits a second.", nil},
		"a tag of a page":         {"<li>Never push this button.</li>\nWhy is it not shown?", nil},
	} {
		if got := rules.Texts(c.text); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, not %q", name, got, c.want)
		}
	}
}
