package rules

import (
	"fmt"
	"strings"
	"testing"
)

// TestRulesEnd: words that name an older rule end it, others do not.
func TestRulesEnd(t *testing.T) {
	for _, tt := range []struct {
		old, new string
		want     State
	}{
		{"Use tabs for indentation in everything you write.", "I changed my mind: use four spaces for indentation, not tabs.", Replaced},
		{"Never use tabs in this repository.", "Forget the rule about tabs: you may use tabs now.", Revoked},
		{"The timeout must be 30 seconds.", "And the timeout must be 45 seconds, not 30.", Replaced},
		{"The timeout must be 45 seconds.", "The timeout is 60 now, not 45.", Replaced},
		{"The timeout must be 45 seconds.", "The timeout is 60 seconds now.", Replaced},
		{"Always answer in French.", "Answer in English from now on.", Replaced},
		{"Use tabs.", "Use 4 spaces instead of tabs.", Replaced},
		{"Use tabs for indentation.", "Use spaces for indentation.", Replaced},
		{"Never push to main.", "You may push to main now.", Revoked},
		{"Do not push.", "You can push now.", Revoked},
		{"Don't commit without my approval.", "You no longer need my approval to commit.", Revoked},
		{"End every reply with the word DONE.", "You can stop ending your replies with DONE.", Revoked},
		{"Keep every answer under 100 words.", "Keep every answer under 200 words from now on.", Replaced},
		{"At most three files per commit.", "At most five files per commit.", Replaced},
		{"From now on use npm.", "Use pnpm instead of npm.", Replaced},
		{"Never use mocks.", "Always use mocks.", Replaced},
		{"Verwende Tabs für die Einrückung.", "Verwende Leerzeichen statt Tabs.", Replaced},
		{"Nie auf main pushen.", "Du darfst jetzt auf main pushen.", Revoked},
		{"Réponds toujours en français.", "Réponds toujours en anglais.", Replaced},
		{"Usa siempre tabulaciones.", "Usa espacios en vez de tabulaciones.", Replaced},
		{"Non usare mai i mock.", "Adesso puoi usare i mock.", Revoked},
		{"不要修改数据库。", "现在可以修改数据库。", Revoked},
		{"mainにpushしないでください。", "mainにpushしてもいいです。", Revoked},

		{"Never push to main.", "Never touch the vendor folder.", Holds},
		{"Use tabs for indentation.", "Use double quotes for strings.", Holds},
		{"The timeout must be 30 seconds.", "The retries must be 5.", Holds},
		{"Never use tabs.", "Use spaces, not tabs.", Holds},
		{"At most three files per commit.", "At most 50 characters per commit message.", Holds},
		{"Do not push.", "You can look at the log now.", Holds},
		{"Always run the tests before a commit.", "Just this once, don't run the tests before the commit.", Holds},
		{"Never delete the logs.", "There are 5 logs now.", Holds},
		{"Answer in French.", "Write all comments in English.", Holds},
	} {
		got := Fold([]string{tt.old, "Go on.", tt.new})
		if len(got) == 0 || got[0].Text != tt.old || got[0].State != tt.want || tt.want != Holds && got[0].Until != 2 {
			t.Errorf("%q, then %q: %+v", tt.old, tt.new, got)
		}
	}
}

// TestTheNewestRulesAreCompared: a sentence ends one of the newest rules, and is compared with no more of them, however many
// there are.
func TestTheNewestRulesAreCompared(t *testing.T) {
	for between, want := range map[int]State{mostCompared - 1: Replaced, mostCompared: Holds} {
		var others strings.Builder
		for i := range between {
			fmt.Fprintf(&others, "Never touch file%d.go.\n", i)
		}
		const old = "Use tabs for indentation."
		if got := Fold([]string{old, others.String(), "Use spaces for indentation."}); len(got) != between+2 || got[0].Text != old || got[0].State != want {
			t.Errorf("%d rules between them: %d, the first %+v", between, len(got), got[0])
		}
	}
}
