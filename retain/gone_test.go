package retain_test

import (
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/measure"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/retain"
	"github.com/precis-dev/precis/tokens"
)

// What is in no form in a view is gone; what is shortened, quoted or summarized is not.
func TestWhatIsGone(t *testing.T) {
	counter, err := tokens.New(tokens.Options{})
	if err != nil {
		t.Fatal(err)
	}
	filler := strings.Repeat("The assistant reads on and on. ", 200)
	say := func(role precis.Role, text string) precis.Message { return precis.NewText(role, text) }
	transcript := precis.NewTranscript(
		say(precis.RoleUser, "Never push to main.\nRead the files."), say(precis.RoleAssistant, filler), say(precis.RoleUser, "Go on."), say(precis.RoleAssistant, filler),
		say(precis.RoleUser, "Now write the changelog for the release of next week, please."), say(precis.RoleAssistant, "Written."))
	conv := &precis.Conversation{Transcript: transcript}
	hide := func(kind precis.EditKind, from, to int, with ...precis.Message) precis.Edit {
		e := precis.Edit{Kind: kind, Replace: []precis.Replacement{{From: from, To: to, With: with}}}
		if err := e.Identify(transcript); err != nil {
			t.Fatal(err)
		}
		return e
	}
	block := func(kind precis.EditKind, i int, text string) precis.Edit {
		e := precis.Edit{Kind: kind, Replace: []precis.Replacement{precis.ReplaceBlock(transcript, i, 0, precis.Text{Text: text})}}
		if err := e.Identify(transcript); err != nil {
			t.Fatal(err)
		}
		return e
	}
	marker := say(precis.RoleUser, "[hidden]")
	digest := say(precis.RoleUser, "Digest: Never push to main. The user wants: Now write the changelog for the release of next week, please.")
	for name, tt := range map[string]struct {
		edits  []precis.Edit
		rules  int
		turn   bool
		hidden bool
	}{
		"nothing is edited":         {},
		"a rule is hidden":          {edits: []precis.Edit{hide(precis.KindTruncation, 0, 1, marker)}, rules: 1},
		"a rule is excluded":        {edits: []precis.Edit{hide(precis.KindExclude, 0, 1)}, rules: 1},
		"a rule is cut away":        {edits: []precis.Edit{block(precis.KindClip, 0, "[cut]")}, rules: 1},
		"the marker has it":         {edits: []precis.Edit{hide(precis.KindTruncation, 0, 1, say(precis.RoleUser, "[hidden; rules: Never push\n to main.]"))}},
		"the last turn is hidden":   {edits: []precis.Edit{hide(precis.KindClip, 4, 5)}, turn: true},
		"it is cut to nothing":      {edits: []precis.Edit{block(precis.KindClip, 4, "[cut]")}, turn: true},
		"its beginning stays":       {edits: []precis.Edit{block(precis.KindClip, 4, "Now write the changelog for the release of [cut]")}},
		"nine tenths are hidden":    {edits: []precis.Edit{hide(precis.KindTruncation, 1, 4, marker)}, hidden: true},
		"cut":                       {edits: []precis.Edit{block(precis.KindClip, 1, "x"), block(precis.KindClip, 3, "x")}, hidden: true},
		"summarized":                {edits: []precis.Edit{hide(precis.KindCondensation, 1, 4, digest)}},
		"previews":                  {edits: []precis.Edit{block(precis.KindPruning, 1, "x"), block(precis.KindPruning, 3, "x")}},
		"all of it is summarized":   {edits: []precis.Edit{hide(precis.KindCondensation, 0, 6, digest)}},
		"half":                      {edits: []precis.Edit{hide(precis.KindTruncation, 1, 2, marker)}},
		"everything, without words": {edits: []precis.Edit{hide(precis.KindTruncation, 0, 6, marker)}, rules: 1, turn: true, hidden: true},
	} {
		g := retain.Loss(conv, nil, tt.edits, measure.New(counter))
		if len(g.Rules) != tt.rules || (g.LastTurn != nil) != tt.turn || g.Hidden > .9 != tt.hidden || g.Empty() != (tt.rules == 0 && !tt.turn && !tt.hidden) {
			t.Errorf("%s: %+v", name, g)
		}
		if strings.Contains(g.String(), "push") {
			t.Errorf("%s: %s has words of the user", name, g)
		}
		if again := retain.Loss(conv, tt.edits, tt.edits, measure.New(counter)); !again.Empty() {
			t.Errorf("%s: %+v is gone a second time", name, again)
		}
	}
	// What is pinned is gone when nothing of it stands, a message or a block; what was hidden when it
	// was pinned is not.
	for name, tt := range map[string]struct {
		pin    precis.Handle
		before []precis.Edit
		edit   precis.Edit
		gone   bool
	}{
		"a message is hidden":     {pin: precis.MessageHandle(4), edit: hide(precis.KindTruncation, 4, 5, marker), gone: true},
		"a message of a span":     {pin: precis.SpanHandle(0, 3), edit: hide(precis.KindTruncation, 2, 3, marker), gone: true},
		"a block is cut to words": {pin: precis.BlockHandle(4, 0), edit: block(precis.KindClip, 4, "[cut]"), gone: true},
		"its beginning stays":     {pin: precis.BlockHandle(4, 0), edit: block(precis.KindClip, 4, "Now write the changelog for the release of [cut]")},
		"another one is hidden":   {pin: precis.MessageHandle(1), edit: hide(precis.KindTruncation, 3, 4, marker)},
		"it was hidden before":    {pin: precis.MessageHandle(1), before: []precis.Edit{hide(precis.KindTruncation, 1, 2, marker)}, edit: hide(precis.KindTruncation, 0, 2, marker)},
	} {
		before := append(tt.before, precis.Edit{ID: "pin", Kind: precis.KindPin, Pins: []precis.Handle{tt.pin}})
		if g := retain.Loss(conv, before, append(before[:len(before):len(before)], tt.edit), measure.New(counter)); (len(g.Pins) > 0) != tt.gone || tt.gone && (!g.Refuses() || g.Empty()) {
			t.Errorf("%s: %+v", name, g)
		}
	}
	if g := (policy.Loss{Rules: make([]policy.LostAnchor, 1)}); g.Refuses() || g.Empty() {
		t.Errorf("rules: %+v", g)
	}
	// Behind the rewind nothing was shown, so nothing is lost.
	rewound := []precis.Edit{hide(precis.KindRewind, 4, 6)}
	if g := retain.Loss(conv, rewound, append(rewound, hide(precis.KindTruncation, 2, 3, marker)), measure.New(counter)); g.LastTurn == nil || g.LastTurn.From != 2 {
		t.Errorf("after a rewind: %+v", g)
	}
}
