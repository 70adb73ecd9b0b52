package clients

import (
	"strings"
	"testing"
)

func TestJudge(t *testing.T) {
	all := strings.Join(plants, " ")
	main := func(tokens int, splice bool, text string) mainRequest {
		return mainRequest{tokens, splice, []byte(text)}
	}
	tests := []struct {
		name                  string
		mains                 []mainRequest
		compactions, one, two int
		twice                 int
	}{
		{"none", []mainRequest{main(100, false, all), main(200, false, all)}, 0, 0, 0, 0},
		{"lost", []mainRequest{main(100, false, all), main(50, false, "nothing"), main(60, false, "nothing")}, 1, 0, 0, 0},
		{"given back late", []mainRequest{main(100, false, all), main(50, false, plantRule), main(60, false, all)}, 1, 1, 4, 0},
		{"the worst counts", []mainRequest{main(100, false, all), main(50, false, all), main(60, false, all), main(20, true, plantRule), main(30, false, plantRule)}, 2, 1, 1, 0},
		{"a splice", []mainRequest{main(100, false, all), main(100, true, all)}, 1, 4, 4, 0},
		{"twice", []mainRequest{main(100, false, strings.Repeat("by precis from the recording of this session ", 4))}, 0, 0, 0, 1},
	}
	for _, test := range tests {
		var r HostResult
		r.judge(test.mains)
		if r.Compactions != test.compactions || r.First != test.one || r.Second != test.two || r.Twice != test.twice || r.Requests != len(test.mains) {
			t.Errorf("%s: %+v", test.name, r)
		}
	}
}

// What Claude Code showed.
func TestSee(t *testing.T) {
	tests := []struct{ name, shown, said, noise string }{
		{"nothing", "❯ Go on.\n\n● Reading file number 2.\n  precis: no request yet\n", "", ""},
		{"a compaction, on two lines", "❯ /compact\n  ⎿  Compacted\n\n● precis: About 34k tokens became 8k; /compact undo takes it\n  back.\n\n❯ Go on.\n", "About 34k tokens became 8k; /compact undo takes it back.", ""},
		{"JSON of a hook", `  ⎿  {"hookSpecificOutput": {"hookEventName": "PostCompact"}}` + "\n", "", `⎿  {"hookSpecificOutput": {"hookEventName": "PostCompact"}}`},
		{"a hook that fails", "  ⎿  PostToolBatch hook failed\n  ⎿  PostToolBatch hook failed\n", "", "⎿  PostToolBatch hook failed"},
	}
	for _, test := range tests {
		var r HostResult
		r.see(test.shown)
		r.see(test.shown)
		if got := strings.Join(r.Said, "|"); got != test.said {
			t.Errorf("%s: it said %q, want %q", test.name, got, test.said)
		}
		if got := strings.Join(r.Noise, "|"); got != test.noise {
			t.Errorf("%s: noise is %q, want %q", test.name, got, test.noise)
		}
	}
	noisy := HostResult{Mode: Missing, Done: true, Compactions: 1, Noise: []string{"hook failed"}}
	if noisy.Sound() || (HostResult{Mode: Missing, Done: true, Compactions: 1, Leaks: true}).Sound() {
		t.Error("a run is sound though a person reads what nobody may read, or a session begun anew knows the one before")
	}
	if noisy.Mode = Killed; !noisy.Sound() {
		t.Error("a program may say that a hook was killed")
	}
}

func TestHostTable(t *testing.T) {
	var out strings.Builder
	results := []HostResult{{Name: "a", Mode: Inside, Done: true, Compactions: 1, First: 4, Second: 4, Same: true}, {Name: "b", Mode: Alone, Error: "it is gone"}}
	if err := HostTable(&out, results); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "4 of 4") || !strings.Contains(out.String(), "b alone: it is gone") {
		t.Error(out.String())
	}
	if !results[0].Sound() || results[1].Sound() {
		t.Error("which run is sound is not known")
	}
}
