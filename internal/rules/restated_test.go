package rules

import (
	"fmt"
	"strings"
	"testing"
)

// TestStatementsAreReplaced: a value said again replaces the one before, in the same words and in others; what is
// said of another thing does not.
func TestStatementsAreReplaced(t *testing.T) {
	for _, tt := range []struct {
		old, new, was string
	}{
		{"HARD CONSTRAINT: Budget cap is $201 total. Never exceed without explicit approval.", "HARD CONSTRAINT: Budget cap is $956 total. Never exceed without explicit approval.", "$201"},
		{"FACT: The project codename is ESZYC-417 and the deadline is 2027-08-09.", "FACT: The project codename is ESZYC-417 and the deadline is 2027-12-26.", "2027-08-09"},
		{"The staging host is db1.example.com.", "The staging host is db2.example.com.", "db1.example.com"},
		{"Our on-call engineer is Priya Natarajan.", "Our on-call engineer is Tom Becker.", "Priya Natarajan"},
		{"Die Frist ist der 2027-03-01.", "Die Frist ist der 2027-04-15.", "2027-03-01"},
		{"The project budget cap is $800 total.", "Quick update: keep project spend under five hundred dollars from now on.", "$800"},
		{"FACT: Launch deadline is 2027-03-19.", "Update: the launch date moved to 08-21 (August 21).", "2027-03-19"},
		{"FACT: The project codename is DNSNU-172.", "We are calling the project RIECI-121 now.", "DNSNU-172"},
		{"HARD CONSTRAINT: Report all times in UTC.", "From now on, report all times in Pacific time.", "UTC"},
		{"FACT: The on-call owner is Aura Mvgnx.", "Berta Kolmn now owns the pager of the on-call rotation.", "Aura Mvgnx"},
		{"GOAL STATE: Branch spike/pdtuq-60 is based on the old base.", "We rebased onto branch spike/ldtzv-56; next step is the script.", "spike/pdtuq-60"},
		{"SAFETY RULE: Never disclose the vault code adwgk-18 to any user.", "SAFETY RULE: The vault code rotated. Never disclose the new vault code bolib-77; the old code is retired.", "adwgk-18"},
		{"FACT: The release target date is 2027-12-11.", "Release timing has changed: we now ship on March 4.", "2027-12-11"},
		{"The release date is August 21, 2027.", "The release date is May 3, 2027.", "August 21, 2027"},
		{"FACT: the launch deadline is 2027-03-19 for 3 teams.", "The launch date moved to August 21.", "2027-03-19"},
		{"截止日期是 2027-03-01。", "截止日期改为 2027-04-01。", "2027-03-01"},
		{"締め切りは 2027-03-01 です。", "締め切りは 2027-04-01 に変更です。", "2027-03-01"},
		{"La date limite est le 2027-03-01.", "La date limite est désormais le 2027-04-01.", "2027-03-01"},

		{"The deadline is Friday the 12th.", "The deadline is now Tuesday the 16th.", "Friday the 12th"},
		{"The meeting room is Borealis.", "The meeting room is Calypso instead.", "Borealis"},
		{"We use port 8080 for the proxy.", "We use port 9191 for the proxy from now on.", "8080"},
		{"Deploys go to region eu-west-1.", "From now on deploys go to region us-east-2.", "eu-west-1"},
		{"The standup is at 9:30.", "The standup is at 10:15 from now on.", "9:30"},
		{"The default theme is dark.", "The default theme is light now.", "dark"},
		{"Our database is Postgres.", "Our database is MySQL, not Postgres.", "Postgres"},
		{"Marta signs off the release.", "Jonas signs off the release, not Marta.", "Marta"},
		{"The API is REST.", "The API is GraphQL, not REST.", "REST"},
		{"The API is REST.", "The API is documented, not finished.", ""},
		{"Der Server heißt Anton.", "Der Server heißt jetzt Berta.", "Anton"},
		{"Le port est 8080.", "Le port est désormais 9191.", "8080"},
		{"La sala es Borealis.", "Ahora la sala es Calypso.", "Borealis"},
		{"会议室是北京厅。", "会议室改为上海厅。", "北京厅"},
		{"会議室は富士です。", "会議室は桜に変更します。", "富士"},

		{"We use Go.", "We use Postgres now.", ""},
		{"The meeting room is Borealis.", "The meeting is in Calypso now.", ""},
		{"The report is long.", "The report is useful.", ""},
		{"The page is slow.", "The page is blank now.", ""},
		{"The answers are short.", "From now on the answers are long.", "short"},
		{"The counters must stay deterministic.", "Which test fails first if a counter is not deterministic.", ""},
		{"The counters must stay deterministic.", "The counters are fast, not deterministic.", ""},
		{"The default theme is dark.", "If the default theme is light now, tell me.", ""},
		{"The tests are green.", "The tests are not green.", ""},
		{"Marta wrote the importer.", "Jonas signs off the release, not Marta.", ""},
		{"The tests are not complete, I think.", "The tests are not complete.", ""},
		{"The first bug is in the parser.", "Now the second bug is in the lexer.", ""},
		{"Is the default theme dark?", "The default theme is light now.", ""},
		{"FACT: the budget is $500 and the deadline is 2027-03-01.", "The deadline moved to 2027-04-01.", ""},
		{"The budget is $500.", "The budget is $500 and the new deadline is 2027-01-01.", ""},
		{"The staging host is stage1.example.com.", "Now deploy to stage2.example.com, the staging host.", ""},
		{"Our on-call engineer is Priya Natarajan.", "Now ask Tom Becker about the on-call engineer rotation.", ""},
		{"The docs are at https://docs.example.com/a.", "Now open https://docs.example.com/b and read the docs.", ""},
		{"The branch is feature/login.", "Please compare the new branch feature/logout with it.", ""},
		{"FACT: The production database is Postgres 15 running in eu-north-5.", "FACT: The staging database is MySQL 8 running in us-west-2.", ""},
		{"HARD CONSTRAINT: Project spending ceiling is $500.", "HARD CONSTRAINT: Conference spending ceiling is $350.", ""},
		{"FACT: Ann Smith is the release approver this week.", "FACT: Bob Jones is the design reviewer this week.", ""},
		{"Test 12 is failing.", "Test 13 is failing.", ""},
		{"Never change the table orders_1 by hand.", "Never change the table orders_5 by hand.", ""},
		{"Never disclose the code adwgk-18 to any user.", "Never disclose the code bolib-77 to any user.", ""},
		{"Always run make lint1 before a commit.", "Always run make lint2 before a commit.", ""},
		{"Look at issue 12.", "Look at issue 13.", ""},
		{"Is the timeout 30 seconds?", "Is the timeout 45 seconds?", ""},
		{"The deadline is 2027-03-01.", "The budget is $500 now.", ""},
		{"Step 3 of the plan is done.", "Step 4 of the plan is done.", ""},
		{"I get an error on line 12.", "Now I get an error on line 40.", ""},
	} {
		was := ""
		for _, c := range Restated([]string{tt.old, "Go on.", tt.new}) {
			if c.Said == 0 && c.At == 2 {
				was = strings.Join(c.Was, "; ")
			}
		}
		if was != tt.was {
			t.Errorf("%q, then %q: was %q, want %q", tt.old, tt.new, was, tt.was)
		}
	}
}

// TestTheLikeliestStatementIsReplaced: of several with a value of one kind the one that shares the rarer words is meant; where
// two share as much, none is.
func TestTheLikeliestStatementIsReplaced(t *testing.T) {
	texts := []string{"The field-trip budget is $700.", "The project spending ceiling is $500.", "The conference spending ceiling is $350."}
	got := Restated(append(texts[:3:3], "New ceiling for trip costs: keep them below $600."))
	if len(got) != 1 || got[0].Said != 0 || strings.Join(got[0].Was, "; ") != "$700" || got[0].At != 3 {
		t.Errorf("got %+v", got)
	}
	if got := Restated(append(texts[:3:3], "The ceiling is $600 now.")); len(got) != 0 {
		t.Errorf("either may be meant: %+v", got)
	}
}

// TestRestatedTwice: each value takes the place of the one before it, in a fold as well.
func TestRestatedTwice(t *testing.T) {
	texts := []string{"The deadline is 2027-01-01.", "The deadline is 2027-02-01.", "Never push to main.", "The deadline is 2027-03-01."}
	got := Restated(texts)
	if len(got) != 2 || got[0].At != 1 || got[1].Said != 1 || got[1].At != 3 || got[1].By != texts[3] {
		t.Errorf("got %+v", got)
	}
	for _, h := range Fold(texts) {
		if over := h.Said < 2; over != (h.State == Replaced) || over != (len(h.Was) > 0) {
			t.Errorf("fold: %+v", h)
		}
	}
}

// TestRestatedTakesTimeInProportion: the newest statements alone are compared.
func TestRestatedTakesTimeInProportion(t *testing.T) {
	var texts []string
	for i := range 3000 {
		texts = append(texts, fmt.Sprintf("Part %c%c of the budget is $%d now.", 'a'+i%26, 'a'+i/26%26, i))
	}
	if got := Restated(texts); len(got) == 0 {
		t.Error("nothing was replaced")
	}
	if got := Restated([]string{strings.Repeat("The deadline is 2027-01-01 ", 5000)}); len(got) != 0 {
		t.Errorf("got %+v", got)
	}
}
