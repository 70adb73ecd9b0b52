package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"precis"
	"precis/cmd/internal/config"
	"precis/cmd/internal/term"
)

// diffOf returns the changes of a conversation of ten messages, one line each.
func diffOf(t *testing.T, before, made func(*precis.Transcript) []precis.Edit) (out []string, changes []change) {
	t.Helper()
	tr := &precis.Transcript{}
	for i := range 10 {
		role := precis.RoleUser
		if i%2 == 1 {
			role = precis.RoleAssistant
		}
		tr.Append(precis.NewText(role, fmt.Sprintf("%d %s", i, strings.Repeat("word ", 40))))
	}
	j := &job{cfg: &config.Config{}, conv: &precis.Conversation{Transcript: tr}}
	changes, err := j.diff(before(tr), made(tr), 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", c.Kind, c.Handle, c.By, c.Text)))
	}
	return out, changes
}

func none(*precis.Transcript) []precis.Edit { return nil }

func hide(id string, from, to int, with ...precis.Message) precis.Edit {
	return precis.Edit{ID: id, Kind: precis.KindTruncation, Replace: []precis.Replacement{{From: from, To: to, With: with}}}
}

func shorten(id string, t *precis.Transcript, i int, with precis.Block) precis.Edit {
	return precis.Edit{ID: id, Kind: precis.KindPruning, Replace: []precis.Replacement{precis.ReplaceBlock(t, i, 0, with)}}
}

func TestDiff(t *testing.T) {
	marker := precis.NewText("user", "[gone]")
	for _, tt := range []struct {
		name         string
		before, made func(*precis.Transcript) []precis.Edit
		want         string
	}{
		{"nothing", none, none, "unchanged m0-m9"},
		{"a marker", none, func(*precis.Transcript) []precis.Edit { return []precis.Edit{hide("1", 1, 4, marker)} },
			"unchanged m0|hidden m1-m3 truncation|inserted m1-m3 truncation [gone]|unchanged m4-m9"},
		{"hidden before", func(*precis.Transcript) []precis.Edit { return []precis.Edit{hide("1", 1, 4, marker)} }, none, "unchanged m0-m9"},
		{"hidden before, more now", func(*precis.Transcript) []precis.Edit { return []precis.Edit{hide("1", 1, 4, marker)} },
			func(*precis.Transcript) []precis.Edit { return []precis.Edit{hide("2", 0, 6)} },
			"hidden m0-m5 truncation|unchanged m6-m9"},
		{"a preview", none, func(t *precis.Transcript) []precis.Edit {
			return []precis.Edit{shorten("1", t, 4, precis.Text{Text: "short"})}
		}, "unchanged m0-m3|preview m4.b0 pruning short|unchanged m5-m9"},
		{"a preview before", func(t *precis.Transcript) []precis.Edit {
			return []precis.Edit{shorten("1", t, 4, precis.Text{Text: "short"})}
		}, none, "unchanged m0-m9"},
		{"a shorter preview", func(t *precis.Transcript) []precis.Edit {
			return []precis.Edit{shorten("1", t, 4, precis.Text{Text: "short"})}
		}, func(t *precis.Transcript) []precis.Edit {
			return []precis.Edit{shorten("2", t, 4, precis.Text{Text: "s"})}
		}, "unchanged m0-m3|preview m4.b0 pruning s|unchanged m5-m9"},
		{"a block left out", none, func(t *precis.Transcript) []precis.Edit { return []precis.Edit{shorten("1", t, 0, nil)} },
			"removed m0.b0 pruning|unchanged m1-m9"},
	} {
		got, changes := diffOf(t, tt.before, tt.made)
		if s := strings.Join(got, "|"); s != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, s, tt.want)
		}
		for _, c := range changes {
			if c.Before < c.After && c.Kind != diffInserted {
				t.Errorf("%s: %s grows from %d to %d", tt.name, c.Handle, c.Before, c.After)
			}
		}
	}
}

// What is printed is plain, whatever a recording holds, and as wide as it may be.
func TestPrintDiff(t *testing.T) {
	var b bytes.Buffer
	a := &app{term: term.New(&b, func(string) string { return "" })}
	long := strings.Repeat("界", 200)
	var changes []change
	for i := range 12 {
		changes = append(changes, change{Kind: diffPreview, Handle: precis.BlockHandle(i, 0), Before: 100 + i, After: 9, By: precis.KindPruning, What: long,
			was: "same\nold", Text: "same\n\x1b[31mnew\x1b[0m " + long + "\n\n2\n[… 3 lines]\n3\nfour"})
	}
	changes = append(changes, change{Kind: diffHidden, Handle: precis.SpanHandle(12, 1000), Before: 1_234_567, By: precis.KindCondensation},
		change{Kind: diffInserted, Handle: precis.SpanHandle(12, 1000), After: 7, By: precis.KindCondensation, Text: strings.Repeat("line\n", 50)})
	a.printDiff(changes, false)
	out := b.String()
	for line := range strings.Lines(out) {
		if n := len([]rune(line)) + strings.Count(line, "界"); n > 101 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if strings.Contains(out, "\x1b") {
		t.Error("escape codes")
	}
	for text, want := range map[string]int{"│ new": mostShown, "│ same": 0, "│ 3": mostShown, "four": 0, "│ line\n": mostInserted, "… 10 more lines; --full": 1, "instead: a summary": 1, "988 messages hidden by condensation": 1, "1,234,567": 1} {
		if n := strings.Count(out, text); n != want {
			t.Errorf("%q is there %d times, want %d", text, n, want)
		}
	}
	if t.Failed() {
		t.Log(out)
	}
	b.Reset()
	a.printDiff(changes, true)
	if out := b.String(); strings.Count(out, "four") != 12 || strings.Count(out, "│ line\n") != 50 || strings.Contains(out, "--full") {
		t.Errorf("not all of it:\n%s", out)
	}
}

func TestLossReport(t *testing.T) {
	k := &precis.Retention{Anchors: 300, Kept: 200, Repaired: 20, Rules: 3, RulesLost: []precis.LostAnchor{{Text: "Never\nguess.", Kind: "rule", Handle: precis.MessageHandle(4)}}}
	for i := range precis.MaxLost {
		k.Lost = append(k.Lost, precis.LostAnchor{Text: fmt.Sprint("fact", i), Kind: "path", Handle: precis.MessageHandle(i)})
	}
	r := precis.Report{Retention: k, Edits: []precis.EditSummary{{Kind: precis.KindCondensation, Rung: "digest"}}}
	if got, want := keptText(r), "200 of 300 facts likely to be needed again, 20 of them through the digest; 2 of 3 rules of the user word for word"; got != want {
		t.Errorf("%s", got)
	}
	if got := keptText(precis.Report{}); got != "" {
		t.Errorf("nothing is known: %q", got)
	}
	var b bytes.Buffer
	a := &app{term: term.New(&b, func(string) string { return "" })}
	a.printLost(k)
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) != 1+mostLost+1 || !strings.Contains(lines[1], "m4    rule  Never guess.") || !strings.Contains(lines[11], "and 91 more") {
		t.Errorf("%s", b.String())
	}
	b.Reset()
	if a.printLost(&precis.Retention{Anchors: 1, Kept: 1}); b.Len() > 0 {
		t.Errorf("nothing is lost: %s", b.String())
	}
}
