package retain

import (
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis"

	"pgregory.net/rapid"
)

func TestConstraintsAreFound(t *testing.T) {
	for _, s := range []string{
		// English
		"Never push to main.", "You must run the tests first.", "Please don't touch the config!", "Do not edit vendor files.", "Use only the standard library.",
		"Make sure the build is green.", "The API should not change.", "Keep it under no circumstances.", "Return at most 10 rows.", "ALWAYS ASK FIRST.",
		"Don’t use any mocks.", "You mustn’t log keys.", "Prefer composition, as we said.",
		// German
		"Ändere niemals die Datenbank.", "Das darf nicht kaputtgehen.", "Bitte keine neuen Pakete.", "Auf keinen Fall löschen!", "Alle Tests müssen laufen.", "Höchstens drei Dateien.",
		// French
		"Évitez les dépendances.", "Il ne faut jamais pousser.", "Il faut garder le style.", "Utilise seulement la bibliothèque standard.", "Tu dois tester.", "évite les mocks ici",
		// Spanish
		"Nunca borres los datos.", "Hay que probar primero.", "Solo usa Go.", "No debes cambiarlo.", "Asegúrate de probar.", "Únicamente en español.",
		// Chinese
		"不要修改数据库。", "必须先运行测试。", "只能使用标准库。", "别改这个文件。", "修改config.json之前必须备份。", "commit前一定要跑test。", "請勿刪除檔案。", "这个类别别动。",
		// Japanese
		"必ずテストを実行すること。", "mainにpushしないでください。", "commitの前に必ずtestする。", "標準ライブラリのみ使う。",
	} {
		if got := Constraints(s); !slices.Equal(got, []string{s}) {
			t.Errorf("%q: %q", s, got)
		}
	}
}

func TestSentencesWithoutSuchAWordAreNoConstraints(t *testing.T) {
	for _, s := range []string{
		"The page is slow when I open it.", "What does this function return?", "I think the mustang is a car.", "Here is the log of the last run.", "Thanks, that works now!",
		"This is a nevertheless interesting idea.", "The doctor donated a shoulder.",
		"Das ist eine schöne Seite.", "Die Seite lädt langsam.", "La page est très lente ici.", "Cette fonction marche bien.", "La página es muy lenta aquí.", "Esto funciona muy bien.",
		"这个页面很慢。", "这个函数返回什么类别的值？", "他特别喜欢这个设计。", "我们分别测试了两个模块。", "别人也遇到了这个问题。", "このページは遅いです。", "関数の名前を変えました。",
		"", "ok", "never",
	} {
		if got := Constraints(s); len(got) > 0 {
			t.Errorf("%q: %q", s, got)
		}
	}
}

func TestConstraintsStandAsTheyAre(t *testing.T) {
	long := "never " + strings.Repeat("x", 1000)
	for _, tt := range []struct {
		text string
		want []string
	}{
		{"Edit config.yaml v1.2.3 only. The rest is fine.", []string{"Edit config.yaml v1.2.3 only."}},
		{"Fix it. Never touch src/main.go! Thanks.", []string{"Never touch src/main.go!"}},
		{"He said \"never do this.\" Then he left.", nil},
		{"- Never push\n* always test\n1. must compile\n2) only Go code\n• avoid globals\n# Do not panic\n> must be another's", []string{"Never push", "always test", "must compile", "only Go code", "avoid globals", "Do not panic"}},
		{"1. Never push\r\n2. Always test\r\n", []string{"Never push", "Always test"}},
		{"80 columns at most", []string{"80 columns at most"}},
		{"- 2 spaces, never tabs", []string{"2 spaces, never tabs"}},
		{".env must never be committed", []string{".env must never be committed"}},
		{"--force is forbidden here", []string{"--force is forbidden here"}},
		{"*.pb.go must not be edited", []string{"*.pb.go must not be edited"}},
		{"**Never** use mocks", []string{"**Never** use mocks"}},
		{"1.不要使用全局变量\n2、必须写测试用例", []string{"不要使用全局变量", "必须写测试用例"}},
		{"不要改它。然后测试！必须通过全部测试？好。", []string{"不要改它。", "必须通过全部测试？"}},
		{"Never push.\nNever push.\n  Never push.", []string{"Never push."}},
		{long, nil},
		{long + "\nnever do it", []string{"never do it"}},
		{strings.Repeat("only ", 201), nil},
		{"Look.\n```\nnever do that\n```\nalways test", []string{"always test"}},
		{"The page says: \"You must never do that.\" Always test.", []string{"Always test."}},
		{"Always begin with \"I have read all of it\".", []string{"Always begin with \"I have read all of it\"."}},
		{"never run mañana solo\xff tests", []string{"never run mañana solo\xff tests"}},
	} {
		if got := Constraints(tt.text); !slices.Equal(got, tt.want) {
			t.Errorf("%q\n got %q\nwant %q", tt.text, got, tt.want)
		}
	}
}

func checkConstraints(t interface{ Fatalf(string, ...any) }, text string) {
	seen := map[string]bool{}
	for _, s := range Constraints(text) {
		if !strings.Contains(text, s) || len(s) < 8 || len(s) > 1000 || seen[s] {
			t.Fatalf("%q: %q", text, s)
		}
		seen[s] = true
	}
}

func TestConstraintsAreSentencesOfTheText(t *testing.T) {
	words := []string{"never", "must", "only", "do", "not", "不要", "必须", "别", "特", "ですだけ", "évite", "Ä", "’", "'", ".", ". ", "。", "!", "\n", " ", "- ", "1. ", "12", "(", "\xff", "file.go", "v1.2", "\r", "#", "•"}
	rapid.Check(t, func(t *rapid.T) {
		checkConstraints(t, strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 40).Draw(t, "words"), ""))
	})
}

func FuzzConstraints(f *testing.F) {
	for _, s := range []string{"- Never push. 1. Always test!", "不要改config.json之前必须备份", "Don’t. évite-le", "•\xff must be\xe2\x80 so", "1) 2) - # must do it"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) { checkConstraints(t, text) })
}

// TestRulesInResults: a rule that a person sets with an approval, an answer or a refusal counts
// for everybody who asks, and what the tool gives back beside it is no word of the person.
func TestRulesInResults(t *testing.T) {
	call := func(id, tool string) precis.Message {
		return precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: id, Name: tool, Input: []byte(`{"path":"a.go","content":"x"}`)}}}
	}
	result := func(id, text string, isError bool) precis.Message {
		return precis.Message{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: id, IsError: isError, Content: []precis.Block{precis.Text{Text: text}}}}}
	}
	msgs := []precis.Message{
		{Role: precis.RoleUser, Content: []precis.Block{precis.Text{Text: "<task>Paint it.</task>"}, precis.Text{Text: "<environment_details>x</environment_details>"}}},
		call("1", "write_to_file"), result("1", "The user approved this operation and provided the following context:\n<feedback>\nNever commit drafts.\n</feedback>", false),
		call("2", "ask_followup_question"), result("2", "<answer>\nAlways use tabs.\n</answer>", false),
	}
	want := []string{"Never commit drafts.", "Always use tabs."}
	for name, rules := range map[string][]Rule{"alone": RulesOf(msgs), "index": Read("", msgs).Rules()} {
		var got []string
		for _, r := range rules {
			got = append(got, r.Text)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q", name, got)
		}
	}
	for _, text := range Read("", msgs).Texts {
		if text.Source == SourceUser && strings.Contains(text.Body, "approved this operation") {
			t.Errorf("the result of a tool is the user's: %q", text.Body)
		}
	}
	claude := []precis.Message{precis.NewText(precis.RoleUser, "<system-reminder>\nx\n</system-reminder>"), precis.NewText(precis.RoleUser, "Go."), call("3", "Bash"),
		result("3", "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\nNever push to main.", true)}
	if got := RulesOf(claude); len(got) != 1 || got[0].Text != "Never push to main." {
		t.Errorf("with a refusal: %+v", got)
	}
}

// TestRulesCarryNoTags: what programs wrap the user's words in is no part of a rule.
func TestRulesCarryNoTags(t *testing.T) {
	msgs := []precis.Message{precis.NewText(precis.RoleUser, "<task>\nPaint it. Never touch main.go.</task>"), precis.NewText(precis.RoleUser, "<feedback>Always test.</feedback>")}
	var got []string
	for _, r := range RulesOf(msgs) {
		got = append(got, r.Text)
	}
	if !slices.Equal(got, []string{"Never touch main.go.", "Always test."}) {
		t.Errorf("%q", got)
	}
}
