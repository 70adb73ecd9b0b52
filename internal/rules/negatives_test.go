package rules

import "testing"

// built are sentences about what is to be built, steps of a single order, facts and questions, by their
// kind. Many have the words of rules; none says how to work from now on.
var built = map[string][]string{
	"what a product must do": {
		"Whenever I rename a file in posts, I want to update the index automatically.",
		"Instead of running every minute it should run whenever a user saves.",
		"一次只能选择一个分组",
		"登录的用户的真实地址。",
		"Die Seite muss in 2 s laden.",
		"Jede Zeile soll die Summe zeigen.",
		"Benutzer müssen sich ohne Passwort anmelden können.",
		"La page doit se charger en 2 s.",
		"La lista debe estar ordenada por nombre.",
		"La pagina deve caricarsi in 2 s.",
		"A lista deve estar ordenada por nome.",
		"Страница должна загружаться за 2 с.",
		"페이지는 2초 안에 로드되어야 합니다.",
		"Make the table sortable, each column should have an arrow.",
		"The API must return JSON, never HTML.",
		"Don't show the banner on mobile.",
		"Users must be able to reset their password without contacting support.",
		"The modal should stay open after saving.",
		"I don't want the modal to close on escape.",
		"I want all items to be draggable.",
		"We need a dropdown with all countries.",
		"The password must have at least 8 characters.",
		"Dates should be shown in the user's time zone.",
		"Each user can only have one active session.",
		"The cache must never return stale data.",
		"Use 8 px padding on the cards.",
		"Use useMemo for the filtered list.",
		"The page must load in 2 s.",
		"The list must be sorted by name.",
		"Each row should show the total.",
		"The menu shouldn't close when I click outside.",
		"The endpoint must return 404 for unknown ids.",
		"All invoices should contain the customer number.",
		"parse_header should not take a second argument.",
		"The date picker must be usable with the keyboard.",
		"Every user should see their own orders first.",
		"The new mode can only start if the queue is empty.",
		"When resolving a host, don't cache the answer.",
		"Guests shouldn't persist after a restart.",
	},
	"an order to be done once": {
		"So correct the comments please.",
		"You don't have to follow the colors exactly.",
		"I.e., don't turn the inner blanks into hyphens.",
		"修改样式，确保子菜单可见。",
		"Stell sicher, dass es kompiliert.",
		"Assure-toi que ça compile.",
		"Füge einen Knopf hinzu, der für jedes Produkt die Summe zeigt.",
		"Please summarize all of my notes.",
		"Please delete everything you put into the folder.",
		"Please check off everything you just completed.",
		"Please start your answer to the last question again.",
		"Please review this chat for all changes you made.",
		"Let's keep the first version and drop the second.",
		"Keep the old endpoint but mark it as deprecated.",
		"Leave the window open after saving.",
		"Leave a comment in the ticket.",
		"Let's keep going.",
		"Skip the first row.",
		"Stop the server.",
		"Don't forget the import.",
		"Do not deploy this one.",
		"Don't change anything, just tell me what is wrong.",
		"Don't rename the class, rename the file.",
		"Update the page to only mention the new flag.",
		"Remove all print statements from the project.",
		"You must fix the header.",
		"Add a tooltip which shows the total for each product.",
		"Group the rows for each region together.",
		"Make sure it compiles.",
		"Make sure they exist, and print an error if not.",
		"Ensure the cache is disabled.",
		"Mock the clock and ensure it is not called.",
		"Let's use the second design.",
		"Use `ParseHeader` in the test.",
		"Don't use old_parser, call new_parser.",
		"Remove the list, instead use a set if there are more than ten.",
		"Just keep appending the rest to it.",
		"Please give me an overview of what is left, if any.",
		"If yes, please list the names; if not, let me know that none are left.",
		"Connect the red dots with a line. Do not connect the blue ones.",
		"In test_parse, use the short form not just the long one.",
		"It would be great if you could add a test.",
		"It would be nice if the page loaded faster.",
		"I want it to ask me at every start.",
	},
	"what was seen": {
		"You must have misread the log.",
		"According to the manual, tokens must be renewed every hour.",
		"The spec says that clients must not retry.",
		"My boss thinks we should never have merged this.",
		"The customer wants every invoice to be numbered.",
		"This error came from the build and can only be removed by hand.",
		"While looking into it, I noticed that parse and render don't share a cache.",
		"parser/lex.go:12:3: the variable 'x' is set but never used",
		"This may not have the effect that you expect.",
		"The bot may not be reachable at night.",
		"Nothing to commit, working tree clean.",
		"That was smart, only using the small files.",
		"It'd be faster.",
		"Maybe it never worked.",
		"/ask why does the parser skip any of those files",
	},
	"what is asked": {
		"现在只能选一个，有没有别的方式可以选多个呢",
		"可以把列表都换成下拉框吗",
		"Can we not get the id from the header?",
		"Could you not find it?",
		"Could we use the second one?",
		"Can you always reproduce it?",
	},
}

// TestWhatIsBuiltSetsNoRule: of sentences that say nothing of how to work, at most one of twenty is taken for a rule.
func TestWhatIsBuiltSetsNoRule(t *testing.T) {
	wrong, all := 0, 0
	for kind, list := range built {
		for _, s := range list {
			all++
			if got := Texts(s); len(got) > 0 {
				wrong++
				t.Logf("%s: %q sets %q", kind, s, got)
			}
		}
	}
	if wrong*20 > all {
		t.Errorf("%d of %d", wrong, all)
	}
}
