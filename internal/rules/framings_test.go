package rules

import (
	"strings"
	"testing"
)

// framed are constraints, each as a person sets it in the ways that people have: ordered, wished for
// or asked, given as a reason, and said by the way in a message about something else. named are words
// of the sentence that sets it.
var framed = []struct{ language, named, ordered, wished, reasoned, buried string }{
	{"en", "public API", "Do not touch the public API.", "I'd rather you didn't touch the public API.", "Three other teams build against the public API, so leave it alone.",
		"The client gives up after one timeout and should try again twice. Please add that (the public API stays as it is, by the way) and a test."},
	{"en", "200 kB", "Keep the bundle under 200 kB.", "It'd be great if you could keep the bundle under 200 kB.", "Our CDN charges for everything above 200 kB, so the bundle has to stay below that.",
		"Swap the date picker for the new one. Oh and btw the bundle must not grow past 200 kB. Then update the story."},
	{"en", "yarn", "Run the tests with npm, not yarn.", "I'd prefer it if you ran the tests with npm rather than yarn.", "The lock file is npm's, so use npm instead of yarn.",
		"The login test is red since yesterday, have a look at it. Reminder that tests run with npm, not yarn. I think the mock is stale."},
	{"en", "default exports", "No default exports.", "It would be lovely if you could avoid default exports.", "I am allergic to default exports.",
		"Move the helpers into utils.ts, one more thing: never use default exports, and tell me when it compiles."},
	{"en", "force-push", "Never force-push.", "Could you please not force-push?", "Our mirror breaks whenever someone force-pushes, so don't.",
		"Rebase the branch on dev and open the pull request. And please don't force-push, as always. The reviewer is Ana."},
	{"en", "dependency", "Ask me before you add a dependency.", "I'd appreciate it if you asked me before adding a dependency.", "Legal has to sign off each new dependency, so ask me first.",
		"Parse the feed and store the entries. Before adding any dependency, check with me. The feed is at /feed.xml."},
	{"en", "migrations", "Leave the migrations folder alone.", "It would be nice if you stayed out of the migrations folder.", "The migrations are generated from the models, so don't edit them by hand.",
		"The users page shows the wrong count; my guess is the join. Hands off the migrations folder though. Write a test first."},
	{"en", "commit message", "Write commit messages in the imperative mood.", "I like my commit messages in the imperative mood.", "The changelog is built from the commit messages, so always start them with the package name.",
		"Fix the typo in the footer and commit it, oh, and keep every commit message under 60 characters."},
	{"en", "40 lines", "Keep functions under 40 lines.", "Ideally functions would stay under 40 lines.", "The linter rejects functions over 40 lines, so keep them shorter.",
		"Split the parser into files (no function over 40 lines, please) and run the linter."},
	{"en", "Python 3.8", "Stay compatible with Python 3.8.", "It would help if the code stayed compatible with Python 3.8.", "Half of our users still run Python 3.8, so avoid newer syntax.",
		"Add the retry decorator. Bear in mind that we still support Python 3.8. Cover it with a test."},
	{"en", "root folder", "No new files in the root folder.", "I'd rather not have new files in the root folder.", "A script checks the root folder, so nothing new may go there.",
		"Generate the fixtures for the importer, and btw don't put anything into the root folder, then run it once."},
	{"en", "integration tests", "Don't run the integration tests.", "Please try to avoid running the integration tests.", "The integration tests cost us money, so only ever run the unit tests.",
		"The discount is off by one cent for bundles. One more thing: the integration tests are off limits, they cost money. Start with cart.go."},
	{"en", "explanations", "Keep your explanations short.", "I'd love it if you kept your explanations short.", "I read this on my phone, so please keep your explanations short.",
		"Why does the second request hang? Find out and fix it; also, no long explanations, I know the code."},
	{"en", "logger", "Use the logger instead of print.", "I would prefer the logger over print.", "Anything printed ends up in front of customers, so use the logger instead of print.",
		"Trace where the duplicates come from - and use the logger for it, never print - then remove them."},
	{"en", "main", "Do not commit to main.", "Maybe don't commit to main?", "The release team owns main, so please don't commit to it.",
		"Bump the version to 2.4 and tag it (you must not commit to main, make a branch). Thanks!"},

	{"de", "API", "Fass die öffentliche API nicht an.", "Mir wäre lieber, du würdest die öffentliche API nicht anfassen.", "Andere Teams hängen an der öffentlichen API, also lass sie in Ruhe.",
		"Der Client bricht nach einem Timeout ab. Ergänze bitte einen zweiten Versuch (die öffentliche API bitte nicht ändern) und einen Test."},
	{"de", "Abhängigkeiten", "Keine neuen Abhängigkeiten.", "Es wäre schön, wenn du keine neuen Abhängigkeiten einführst.", "Jedes Paket muss durch die Rechtsabteilung, deshalb bitte keine neuen Abhängigkeiten.",
		"Lies den Feed ein und speichere die Einträge. Übrigens: neue Abhängigkeiten sind tabu. Der Feed liegt unter /feed.xml."},
	{"de", "main", "Pushe niemals auf main.", "Könntest du bitte nicht auf main pushen?", "main gehört dem Release-Team, also push bitte nicht auf main.",
		"Erhöhe die Version und setze den Tag, und denk daran: nie auf main pushen. Danke!"},
	{"fr", "API", "Ne touche pas à l'API publique.", "Je préférerais que tu ne touches pas à l'API publique.", "D'autres équipes dépendent de l'API publique, donc n'y touche pas.",
		"Le client abandonne après un seul essai. Ajoute un second essai (ne modifie pas l'API publique, s'il te plaît) et un test."},
	{"fr", "dépendance", "Pas de nouvelles dépendances.", "Ce serait bien d'éviter les nouvelles dépendances.", "Le service juridique valide chaque paquet, donc aucune nouvelle dépendance.",
		"Lis le flux et enregistre les entrées. Au fait, n'ajoute aucune dépendance sans me demander. Le flux est dans /feed.xml."},
	{"fr", "main", "Ne pousse jamais sur main.", "Pourrais-tu éviter de pousser sur main ?", "main appartient à l'équipe de livraison, donc ne pousse jamais sur main.",
		"Passe la version à 2.4, et petit rappel : ne pousse jamais sur main. Merci !"},
	{"es", "API", "No toques la API pública.", "Preferiría que no tocaras la API pública.", "Otros equipos dependen de la API pública, así que no la toques.",
		"El cliente se rinde tras un intento. Añade otro intento (sin tocar la API pública, por favor) y una prueba."},
	{"es", "dependencias", "Nada de dependencias nuevas.", "Estaría bien que evitaras las dependencias nuevas.", "Legal revisa cada paquete, así que no añadas dependencias.",
		"Lee el feed y guarda las entradas. Por cierto, no añadas dependencias sin preguntarme. El feed está en /feed.xml."},
	{"es", "main", "Nunca subas nada a main.", "¿Podrías no subir nada a main?", "main es del equipo de lanzamiento, así que nunca subas nada a main.",
		"Sube la versión a 2.4 y, ah, recuerda: nunca hagas push a main. ¡Gracias!"},
	{"it", "API", "Non toccare l'API pubblica.", "Preferirei che non toccassi l'API pubblica.", "Altri team dipendono dall'API pubblica, quindi non toccarla.",
		"Il client si arrende dopo un tentativo. Aggiungi un secondo tentativo (senza toccare l'API pubblica, per favore) e un test."},
	{"it", "dipendenze", "Niente nuove dipendenze.", "Sarebbe meglio evitare nuove dipendenze.", "L'ufficio legale controlla ogni pacchetto, quindi niente nuove dipendenze.",
		"Leggi il feed e salva le voci. A proposito, non aggiungere dipendenze senza chiedermelo. Il feed è in /feed.xml."},
	{"pt", "API", "Não mexa na API pública.", "Eu preferiria que você não mexesse na API pública.", "Outras equipes dependem da API pública, então não mexa nela.",
		"O cliente desiste depois de uma tentativa. Adicione outra tentativa (sem mexer na API pública, por favor) e um teste."},
	{"pt", "dependências", "Nada de dependências novas.", "Seria bom evitar dependências novas.", "O jurídico revisa cada pacote, então não adicione dependências.",
		"Leia o feed e salve as entradas. Aliás, não adicione dependências sem me perguntar. O feed está em /feed.xml."},
	{"ru", "API", "Не трогай публичный API.", "Я бы предпочёл, чтобы ты не трогал публичный API.", "От публичного API зависят другие команды, поэтому не трогай его.",
		"Клиент сдаётся после одной попытки. Добавь вторую попытку (публичный API не меняй, пожалуйста) и тест."},
	{"ru", "зависимост", "Никаких новых зависимостей.", "Было бы здорово обойтись без новых зависимостей.", "Юристы проверяют каждый пакет, поэтому никаких новых зависимостей.",
		"Прочитай ленту и сохрани записи. Кстати, не добавляй зависимости без моего разрешения. Лента лежит в /feed.xml."},
	{"zh", "API", "不要改公共 API。", "最好不要改公共 API。", "其他团队依赖公共 API，所以不要动它。",
		"客户端一次超时就放弃了。请加一次重试（不要改公共 API），再写一个测试。"},
	{"zh", "依赖", "不要添加新的依赖。", "希望你不要添加新的依赖。", "法务要审核每个包，所以不要添加新的依赖。",
		"读取订阅并保存条目。对了，不要添加新的依赖。订阅在 /feed.xml。"},
	{"ja", "API", "公開APIを変更しないでください。", "公開APIには触らないでいただけると助かります。", "他のチームが公開APIを使っているので、変更しないでください。",
		"クライアントが一回で諦めます。再試行を追加してください（公開APIは変更しないでください）。テストも書いてください。"},
	{"ja", "依存", "新しい依存関係を追加しないでください。", "新しい依存関係は避けてほしいです。", "法務の確認が必要なので、新しい依存関係は追加しないでください。",
		"フィードを読んで保存してください。ちなみに、新しい依存関係は禁止です。フィードは /feed.xml にあります。"},
	{"ko", "API", "공개 API는 건드리지 마세요.", "공개 API는 건드리지 않았으면 좋겠습니다.", "다른 팀이 공개 API를 쓰고 있으니 건드리지 마세요.",
		"클라이언트가 한 번에 포기합니다. 재시도를 추가해 주세요 (공개 API는 변경하지 마세요). 테스트도 써 주세요."},
	{"ko", "의존성", "새 의존성을 추가하지 마세요.", "새 의존성은 피해 주시면 좋겠습니다.", "법무팀이 모든 패키지를 확인하니 새 의존성을 추가하지 마세요.",
		"피드를 읽고 저장해 주세요. 참고로 새 의존성은 금지입니다. 피드는 /feed.xml에 있습니다."},
}

// asides are more of the ways in which people say what holds.
var asides = []string{
	"The lockfile is managed by a bot, so leave it.", "It'd be wonderful if you wouldn't introduce new env variables.", "Comments that repeat the code drive me crazy, so leave them out.", "Could we keep the diff small?",
	"I'm a fan of small diffs.", "Would you be so kind as to stay inside src/billing?", "src/billing is the only folder you may change.", "Strings go through the catalogue, always.", "Stay out of .env please.",
	"I get nervous when somebody reads .env, so please don't.", "I'd like you to think in small steps and check in with me after each.", "As mentioned before, no abbreviations.", "And again: tabs, not spaces.", "Tabs, not spaces.",
	"It would be best not to rename any files.", "Could I ask you to leave the CSS alone?", "It would mean a lot if you could leave the CSS alone.", "If you could avoid touching the CSS that would be great.", "Any chance you could stick to the existing components?",
	"Do you mind keeping the existing components?", "Let's try to stick with the existing components.", "New components need to be approved by the design team first.", "We had bad experiences with ORMs, hence plain SQL only.", "For compliance reasons nothing in legal/ may change.",
	"Don't you dare touch legal/.", "Whatever you do, leave legal/ alone.", "Fix the header, but without touching the CSS.", "CSS changes are not ok.", "fyi: pnpm, not npm", "p.s. tests live next to the code, not in a tests folder", "Short answers please.", "Be brief.",
	"Talk to me like I'm five.", "Give your answers in bullet points.", "Work on one file at a time.", "Stop telling me what you are going to do.", "Coverage can't drop.", "We are not going line by line.", "Please continue to only list options below 500.", "Can we not commit the notes?",
	"Your thinking should be thorough.", "We explicitly don't want recorded screenshots.", "Building the image and pushing it must be separate commands.", "The timeout must be 45 seconds.", "Let's use podman instead of docker.",
}

// TestAsidesSetRules: of what people say by the way at most one of twenty is missed.
func TestAsidesSetRules(t *testing.T) {
	missed := 0
	for _, s := range asides {
		if len(Texts(s)) == 0 {
			missed++
			t.Logf("missed: %q", s)
		}
	}
	if missed*20 > len(asides) {
		t.Errorf("%d of %d are missed", missed, len(asides))
	}
}

// TestConstraintsInEveryFraming: however a constraint is set, it is found; in English all but one of
// them in all framings, in the other languages nine of ten.
func TestConstraintsInEveryFraming(t *testing.T) {
	whole, english, found, tried := 0, 0, 0, 0
	for _, f := range framed {
		all := true
		for _, text := range []string{f.ordered, f.wished, f.reasoned, f.buried} {
			got := Texts(text)
			ok := false
			for _, s := range got {
				ok = ok || strings.Contains(s, f.named)
			}
			if !ok {
				all = false
				t.Logf("%s: %q sets %q", f.language, text, got)
			}
			if f.language != "en" {
				tried++
				if ok {
					found++
				}
			}
		}
		if f.language == "en" {
			english++
			if all {
				whole++
			}
		}
	}
	t.Logf("%d of %d in English in all framings, %d of %d in other languages", whole, english, found, tried)
	if whole < english-1 || found*10 < tried*9 {
		t.Error("too few are found")
	}
}
