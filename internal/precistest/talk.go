package precistest

import (
	"fmt"
	"strings"

	"github.com/precis-dev/precis"
)

// Talk is a transcript of ten messages, one block each but for the last, which has two.
func Talk() *precis.Transcript {
	t := &precis.Transcript{}
	for i := range 10 {
		role := precis.RoleUser
		if i%2 == 1 {
			role = precis.RoleAssistant
		}
		t.Append(precis.NewText(role, fmt.Sprintf("%d %s", i, strings.Repeat("word ", 40))))
	}
	last := t.At(9)
	last.Content = append(last.Content[:1:1], precis.Text{Text: "and more"})
	return precis.NewTranscript(append(t.Messages()[:9:9], last)...)
}

// Hide returns an edit that shows messages instead of [from,to).
func Hide(id string, from, to int, with ...precis.Message) precis.Edit {
	return precis.Edit{ID: id, Kind: precis.KindTruncation, Report: precis.EditReport{Rung: "truncate"},
		Replace: []precis.Replacement{{From: from, To: to, With: with}}}
}

// Shorten returns an edit that shows a block, or nothing, instead of block b of message i.
func Shorten(id string, t *precis.Transcript, i, b int, with precis.Block) precis.Edit {
	return precis.Edit{ID: id, Kind: precis.KindPruning, Report: precis.EditReport{Rung: "prune"},
		Replace: []precis.Replacement{precis.ReplaceBlock(t, i, b, with)}}
}

// Restore returns an edit that shows [from,to) again.
func Restore(id string, from, to int) precis.Edit {
	return precis.Edit{ID: id, Kind: precis.KindRestore,
		Replace: []precis.Replacement{{From: from, To: to, Restore: true}}}
}
