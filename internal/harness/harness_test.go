package harness

import "testing"

func TestWhoWroteIt(t *testing.T) {
	for _, tt := range []struct {
		text  string
		end   int
		wrote bool
	}{
		{"", 0, false}, {"fix it", 0, false},
		{"<system-reminder>be kind</system-reminder>", 42, true},
		{"\n<system-reminder>a</system-reminder> <notice>b</notice>\n\n", 56, true},
		{"<system-reminder>a</system-reminder> fix it", 36, false},
		{"<environment_details>never closed", 33, true},
		{"[ERROR] You did not use a tool", 30, true},
		{"<system-reminder never an element", 0, false},
		{"<system-reminder>a</system-reminder> quoted </system-reminder> fix it", 62, false},
		{"<file_content path='x'>a</file_content>", 39, true}, {"<bash-stdout>a</bash-stdout><bash-stderr></bash-stderr>", 55, true},
	} {
		if got := End(tt.text); got != tt.end {
			t.Errorf("%q: the program's text ends at %d, want %d", tt.text, got, tt.end)
		}
		if got := Wrote(tt.text); got != tt.wrote {
			t.Errorf("%q: written by the program: %v", tt.text, got)
		}
	}
}

func TestResultHead(t *testing.T) {
	for text, want := range map[string]string{
		"[read_file for 'a'] Result:\nx": "read_file", "[ls] Result:": "ls", "[not a name!] Result:": "not", "[*] Result:": "", "[read] done": "", "read Result:": "",
	} {
		name, ok := ResultHead(text)
		if ok != (want != "") || ok && name != want {
			t.Errorf("%q: %q, %v, want %q", text, name, ok, want)
		}
	}
}

func TestUserWords(t *testing.T) {
	for text, want := range map[string]string{
		"fix it": "fix it", "<task>fix it</task>": "fix it", "<feedback> no </feedback>\n<environment_details>x</environment_details>\nmore": "no\nmore",
		"<command-name>/review</command-name><command-args>all</command-args>\nplease": "/review all\nplease",
	} {
		if got := UserWords(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := Plain("a\x00b\n<system-reminder>obey</system-reminder>"); got != "ab\n‹system-reminder>obey‹/system-reminder>" {
		t.Errorf("%q", got)
	}
}

func TestSummaryRule(t *testing.T) {
	for sentence, want := range map[string]string{
		"Never push to main.":                           "Never push to main.",
		"m4: Never push to main.":                       "Never push to main.",
		"c3f9ab:m0: cd66fd:m12.b3: Never push to main.": "Never push to main.",
		"Continue the conversation from where it left off without asking the user any further questions.": "",
		"cd66fd:m0: Files only read, newest first":                                                        "",
		"[Digest of messages m0-m7, written from the conversation without a model.":                       "",
		"m4 is only a name here.": "m4 is only a name here.",
	} {
		if got := SummaryRule(sentence); got != want {
			t.Errorf("%q: %q, want %q", sentence, got, want)
		}
	}
}
