package rules

import (
	"slices"
	"testing"
)

// kind is one of the ways in which sentences set rules, with others that have their words and set none.
type kind struct {
	kind       string
	sets, none []string
}

// kinds are told apart by who says what, and of what.
var kinds = []kind{
	{"a constraint of those whose word binds",
		[]string{
			"Our network team does not permit open ports.",
			"The lawyers won't let us ship these icons.",
			"Our sponsor's contract prohibits ads, so the company bans them.",
			"We were told by the auditors not to keep the mails.",
			"Management decided that we don't use queues.",
			"Our auditors insist that nothing is deleted.",
			"According to company policy you may not copy the fonts.",
			"Unsere Rechtsabteilung verbietet fremde Schriften.",
			"Der Auftraggeber besteht darauf, dass nichts ins Netz geht.",
			"Notre direction n'autorise pas de nouveaux serveurs.",
			"Nuestra empresa no permite servicios externos.",
			"A nossa equipe não aceita arquivos novos.",
			"Наши юристы запрещают чужие шрифты.",
			"我们公司不允许使用外部服务。",
			"弊社の規定で外部サービスは禁止されています。",
			"회사 규정은 외부 서비스를 허용하지 않습니다.",
		}, []string{
			"The parser does not allow empty blocks.",
			"The server won't accept two logins.",
			"Our users require a search box.",
			"The customer requires a start page and a search.",
			"My boss thinks that we should not have done it.",
			"Der Compiler erlaubt keine leeren Blöcke.",
			"Le serveur n'accepte pas deux connexions.",
			"El servidor no permite dos sesiones.",
		}},
	{"a wish that something stay as it is",
		[]string{
			"I don't want to alter the file format.",
			"I'd hate to see secrets in the logs.",
			"I'd like to keep the old layout.",
			"We want to stay on Java 17.",
			"I want everything to run without the internet.",
			"You don't have to change the tests for this.",
			"I don't want mails in the commits.",
			"Ich möchte das Format nicht ändern.",
			"Neue Pakete würde ich gern vermeiden.",
			"Je ne veux pas changer le format.",
			"No queremos tocar el formato.",
			"Мы не хотим менять формат.",
			"我不想改格式。",
			"フォーマットは変更したくありません。",
			"형식은 바꾸고 싶지 않습니다.",
		}, []string{
			"I don't want to wait for it.",
			"I don't want the panel to slide away.",
			"I'd like to see only the warnings.",
			"I'd like to fly on Sunday.",
			"I'd prefer the first design.",
			"I want the button to be grey until the form is valid.",
			"You don't need to install anything.",
			"Ich möchte nur die Warnungen sehen.",
			"Je voudrais voir uniquement les avertissements.",
		}},
	{"a limit of money",
		[]string{
			"My budget is 70 euros.",
			"Find me a lamp (max 40 euros).",
			"I can't spend more than 90 dollars.",
			"Nothing over $30 please.",
			"Budget: 150 EUR.",
			"Spend at most $4 on calls.",
			"The lamp price must be ≤ $25.",
			"Mehr als 30 Euro will ich nicht ausgeben.",
			"Le budget est de 60 euros au maximum.",
			"El presupuesto es de 60 euros.",
			"Бюджет — не больше 60 евро.",
			"预算最多 500 元。",
			"予算は五千円までです。",
		}, []string{
			"The lamp costs at most 40 euros.",
			"Set the price to $12.",
			"They charge less than 10 dollars for it.",
			"How do I spend less than $10?",
			"Price: 20 euros.",
			"Move the last 30 lines.",
			"Pages up to 20 are the preface.",
		}},
	{"a condition to stop",
		[]string{
			"STOP if more than four files change.",
			"If the run takes longer than an hour, stop and tell me.",
			"STOP si plus de quatre fichiers changent.",
			"Stopp, wenn mehr als vier Dateien betroffen sind.",
			"Detente en cuanto fallen cuatro pruebas.",
			"Остановись, если упадёт больше трёх тестов.",
			"如果超过三个测试失败就停下来。",
		}, []string{
			"Stop the server.",
			"Stop when you are done.",
			"Stop watching the folder when the panel is closed.",
			"The loop stops if the list is empty.",
		}},
	{"an exception",
		[]string{
			"You can edit everything but the schema.",
			"Feel free to rename anything except the public names.",
			"Du darfst alles ändern außer den Tests.",
			"Tu peux tout modifier sauf les tests.",
			"Можно менять всё, кроме тестов.",
		}, []string{
			"Everything works except the search.",
			"I changed everything but the tests.",
		}},
	{"what must not come about on the way",
		[]string{
			"Make the query faster without adding an index.",
			"Rewrite the loop without using recursion.",
			"Move the meeting without cancelling the room.",
		}, []string{
			"It works without changing anything.",
			"Compare both without going into detail.",
			"To scan without committing, use the flag.",
		}},
	{"a custom",
		[]string{
			"We use spaces everywhere.",
			"We don't mock in this project.",
			"Product names stay in English.",
			"All work happens on the branch dev.",
			"Nothing lands without a test.",
			"Branch names: lowercase, no slashes.",
			"Any fee should be charged to my card.",
			"4 hours max per attempt.",
		}, []string{
			"We use it a lot.",
			"We only use it internally.",
			"We never got a reply.",
			"No test passes.",
			"Names with a dot show where a part ends.",
			"Only one test fails.",
			"Each worker only takes one job at a time.",
		}},
	{"what a program does for those who use it",
		[]string{
			"Whenever you add a page, update the menu.",
			"If a change would break the build, ask me.",
		}, []string{
			"When the user clicks save, don't reload the page.",
			"When somebody opens it, only load the text.",
			"Would it be possible to never show this to visitors?",
			"Always hide it when the user scrolls.",
			"用户点击保存时，页面不要重新加载。",
			"ユーザーが保存を押したとき、ページを再読み込みしないでください。",
			"사용자가 저장을 누르면 페이지를 새로고침하지 마세요.",
		}},
	{"what a part of a program must do",
		[]string{
			"The schema must not be changed.",
			"All new functions must have type hints.",
			"Files should stay below 300 lines.",
			"Not a single line in core/ should change.",
		}, []string{
			"The panel must always be visible, and it must never cover the text.",
			"The job must never delete rows.",
			"The input must not accept more than 50 characters.",
			"The script must exit with 1 if any file is missing.",
			"`make all` should always print the version.",
			"Line 10 must match line 20.",
			"We should never have bought it.",
			"Der Dienst darf nie zwei Mails senden.",
			"Le service ne doit jamais envoyer deux mails.",
			"El menú siempre debe quedar visible.",
			"O menu deve sempre ficar visível.",
			"Сервис никогда не должен падать.",
			"菜单必须始终显示在页面顶部。",
			"メニューは常に画面の上に表示されなければなりません。",
			"메뉴는 항상 화면 위에 보여야 합니다.",
		}},
	{"a step",
		[]string{
			"Make sure to run the tests after each change.",
			"Don't forget that keys must stay secret.",
			"Do the upgrade but leave the parser on its current version.",
		}, []string{
			"8.3 If a test is red, fix it.",
			"Step 3: never forget to close the file.",
			"Don't forget to attach the file.",
			"Be sure to read the first page.",
			"Make sure the folder exists before you write to it.",
			"As soon as the tests pass, push it.",
			"Wait until the build is done and then tell me.",
			"Tu dois copier tous les modèles vers le dossier.",
			"Du musst alle Ordner in das Archiv kopieren.",
		}},
	{"what is not to be done yet",
		[]string{
			"Don't push what I have not approved.",
		}, []string{
			"Don't close it yet, I am still reading.",
			"Ne ferme pas encore la porte, je regarde.",
			"Não feche a janela ainda, estou olhando.",
			"まだ閉じないでください。",
			"아직 닫지 마세요.",
		}},
	{"how code is written",
		[]string{
			"Don't call the release script.",
			"Never use the old_loader again.",
			"Avoid mocks in the tests.",
		}, []string{
			"Don't parse read_me from the loader.",
			"Avoid the second query in load_all by caching it.",
			"Use /exit to leave, or /save to store it.",
			"Have /save and /load raise an error rather than a warning.",
			"Don't add the suffix if it's already there.",
			"The load_all() function should call each of them.",
			"Write a script which never deletes anything.",
			"Find all functions that are never called.",
		}},
	{"what the speaker tells",
		[]string{
			"Never force it.",
			"Siempre usa comillas dobles.",
		}, []string{
			"Never heard of it.",
			"Nunca consigo entrar.",
			"Nunca entendí por qué.",
			"Solo veo una página vacía.",
			"Só vejo uma página vazia.",
			"Nie danach.",
			"It works on the first start, never after.",
			"Always a pleasure.",
			"Must be the cache.",
			"Do not open that link, it says.",
			"Der Tester meint, man darf das nie.",
		}},
}

func TestKinds(t *testing.T) {
	for _, k := range slices.Concat(kinds, limits, unseen) {
		for _, s := range k.sets {
			if len(Texts(s)) == 0 {
				t.Errorf("%s: %q sets no rule", k.kind, s)
			}
		}
		for _, s := range k.none {
			if got := Texts(s); len(got) > 0 {
				t.Errorf("%s: %q sets %q", k.kind, s, got)
			}
		}
	}
}

// TestDescriptions: behind the order to build something, sentences say what it must do.
func TestDescriptions(t *testing.T) {
	for _, text := range []string{
		"Build a mail queue. Messages must never be sent twice and should always be signed.",
		"The dial should always snap to whole numbers. Never round up.",
		"Create a bot that sells tea. It must never tell its prompt, and it should always be kind.",
		"npm ERR! You must give a name. Always log in first.\n\nWhat is wrong?",
		"2031-03-01 10:22:03 ERROR must only be called once\nany idea?",
		"def f(x):\n    # never call this twice\n    return x\nWhy does it recurse?",
		"検索を実装してください。入力欄は常に表示され、入力は消えないようにしてください。",
	} {
		if got := Texts(text); len(got) > 0 {
			t.Errorf("%q sets %q", text, got)
		}
	}
	for text, want := range map[string]string{
		"Build a mail queue. Tests must never be skipped.":               "Tests must never be skipped.",
		"Build a mail queue.\n\nSecrets must never be printed.":          "Secrets must never be printed.",
		"The dial should always snap. Never push to main.":               "Never push to main.",
		"npm ERR! missing name\nAlways use pnpm.":                        "Always use pnpm.",
		"検索を実装してください。テストは変更しないでください。":                                    "テストは変更しないでください。",
		"Rewrite it. The config must not be touched. Then tell me more.": "The config must not be touched.",
	} {
		if got := Texts(text); len(got) != 1 || got[0] != want {
			t.Errorf("%q sets %q", text, got)
		}
	}
}

// sides are side constraints in the framings in which people add them to a task: a plain wish, an afterthought, an entry of a list,
// and what others do not allow.
var sides = [][4]string{
	{"I'd like the database schema to stay as it is.", "Oh, and I don't want to alter the schema.", "the schema untouched, please", "Our DBAs don't allow schema changes in this quarter."},
	{"I want to get by without new dependencies.", "P.S. I'd be happier without any new dependencies.", "no additional dependencies if we can help it", "Our legal department does not allow new dependencies."},
	{"I'd love for the CSS not to be touched.", "By the way, I would rather not see any changes to the CSS.", "I'd like the CSS left alone", "The design team has asked us not to edit the CSS."},
	{"It matters to me that the public API doesn't change.", "Also I don't want to break the public API.", "public API must stay backwards compatible", "The platform team forbids changes to the public API."},
	{"I want this to run on Python 3.9.", "Oh, and we want to stay on Python 3.9.", "stay on Python 3.9", "Our hosting provider only supports Python 3.9, nothing newer may be used."},
	{"I want all of it to work without network access.", "One more thing, I don't want the tests to need the network.", "I'd prefer no network access in tests", "Company policy prohibits network access from the build machines."},
	{"I wish for files that are never longer than 300 lines.", "I'd also like files to be no longer than 300 lines.", "files should stay below 300 lines", "Our reviewers won't accept files over 300 lines."},
	{"I don't want to spend more than $50 on this.", "Oh, and the whole thing may cost at most $50.", "total costs under $50", "Finance has limited us to $50 for this."},
	{"I don't want anything pushed to main.", "Oh and please don't push to main.", "nothing goes to main directly", "Our release manager does not permit direct pushes to main."},
	{"I don't want mocks in the tests.", "By the way, I'm not keen on mocks.", "prefer real objects over mocks", "The team has agreed not to use mocks."},
	{"I don't want to modify the config.", "Oh, and ideally we don't modify the config.", "I'd like to leave the config alone", "Ops doesn't let us change the config."},
	{"I want all comments to be in German.", "Also, I'd like the comments to be written in German.", "comments in German", "Our customer insists on comments in German."},
	{"I don't want personal data in the logs.", "And I would hate to see personal data in the logs.", "personal data must not be logged", "Our privacy officer won't allow personal data in the logs."},
	{"I'd like us to avoid global state.", "I also want to avoid global state if possible.", "I want no global state", "Our style guide bans global state, so we can't use it."},
	{"I want to keep everything in legacy/ as it is.", "Last thing: I don't want you to reformat legacy/.", "legacy/ is off limits", "The owners of legacy/ don't want anyone to edit it."},
}

func TestSideConstraints(t *testing.T) {
	tasks := [][2]string{{"Fix the memory leak in the worker pool.", "The heap dump is in /tmp/heap."}, {"Build a page that lists all open orders.", "It needs a search box and paging."}}
	found := [4]int{}
	for i, side := range sides {
		first, second := tasks[i%2][0], tasks[i%2][1]
		for k, text := range []string{first + " " + side[0] + " " + second, first + " " + second + " " + side[1], first + "\n\n- " + second + "\n- " + side[2] + "\n- update the changelog", first + " " + side[3] + " " + second} {
			got := Texts(text)
			if len(got) == 1 && got[0] == side[k] {
				found[k]++
			} else {
				t.Logf("%q: %q", side[k], got)
			}
		}
	}
	for k, n := range found {
		if n < len(sides)-1 {
			t.Errorf("framing %d: %d of %d", k, n, len(sides))
		}
	}
}
