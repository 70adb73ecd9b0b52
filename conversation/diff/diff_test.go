package diff

import (
	"fmt"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/precistest"
	"github.com/precis-dev/precis/measure"
)

// counter counts a token for each word.
type counter struct{}

func (counter) Name() string { return "words" }

func (counter) Count(m precis.Message) int { return len(strings.Fields(m.PlainText())) }

func TestChangesOfAView(t *testing.T) {
	tr := precistest.Talk()
	short, marker := precis.Text{Text: "short"}, precis.NewText("user", "[gone]")
	for _, tt := range []struct {
		name         string
		before, made []precis.Edit
		want         string
	}{
		{"nothing", nil, nil, "unchanged m0-m9"},
		{"a marker", nil, []precis.Edit{precistest.Hide("1", 1, 4, marker)}, "unchanged m0|replaced m1-m3 truncation truncate [gone]|unchanged m4-m9"},
		{"hidden before", []precis.Edit{precistest.Hide("1", 1, 4, marker)}, nil, "unchanged m0-m9"},
		{"hidden before, more now", []precis.Edit{precistest.Hide("1", 1, 4, marker)}, []precis.Edit{precistest.Hide("2", 0, 6)}, "replaced m0-m5 truncation truncate|unchanged m6-m9"},
		{"a shorter block", nil, []precis.Edit{precistest.Shorten("1", tr, 4, 0, short)}, "unchanged m0-m3|shortened m4 pruning prune|unchanged m5-m9"},
		{"shown again", []precis.Edit{precistest.Hide("1", 1, 3)}, []precis.Edit{precistest.Restore("2", 1, 3)}, "unchanged m0|replaced m1 1 w|replaced m2 2 w|unchanged m3-m9"},
	} {
		var got []string
		for _, c := range Changes(measure.New(counter{}), &precis.Conversation{Transcript: tr, Edits: tt.before}, tt.made) {
			got = append(got, strings.Join(strings.Fields(fmt.Sprintf("%s %s %s %s %.6s", c.Change, c.Handle, c.Kind, c.Rung, strings.TrimSuffix(c.Text, "ord"))), " "))
			if c.Change == Shorter && c.After >= c.Before {
				t.Errorf("%s: %s grows from %d to %d", tt.name, c.Handle, c.Before, c.After)
			}
		}
		if joined := strings.ReplaceAll(strings.Join(got, "|"), "word", "w"); joined != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, joined, tt.want)
		}
	}
}

func TestPartsOfAView(t *testing.T) {
	tr := precistest.Talk()
	short, shorter, marker := precis.Text{Text: "short and less"}, precis.Text{Text: "s"}, precis.NewText("user", "[gone]")
	for _, tt := range []struct {
		name         string
		before, made []precis.Edit
		want         string
	}{
		{"nothing", nil, nil, "unchanged m0-m9"},
		{"a marker", nil, []precis.Edit{precistest.Hide("1", 1, 4, marker)}, "unchanged m0|hidden m1-m3 truncation|inserted m1-m3 truncation [gone]|unchanged m4-m9"},
		{"hidden before", []precis.Edit{precistest.Hide("1", 1, 4, marker)}, nil, "unchanged m0-m9"},
		{"hidden before, more now", []precis.Edit{precistest.Hide("1", 1, 4, marker)}, []precis.Edit{precistest.Hide("2", 0, 6)}, "hidden m0-m5 truncation|unchanged m6-m9"},
		{"a preview", nil, []precis.Edit{precistest.Shorten("1", tr, 4, 0, short)}, "unchanged m0-m3|preview m4.b0 pruning short and less|unchanged m5-m9"},
		{"a preview before", []precis.Edit{precistest.Shorten("1", tr, 4, 0, short)}, nil, "unchanged m0-m9"},
		{"a shorter preview", []precis.Edit{precistest.Shorten("1", tr, 4, 0, short)}, []precis.Edit{precistest.Shorten("2", tr, 4, 0, shorter)}, "unchanged m0-m3|preview m4.b0 pruning s|unchanged m5-m9"},
		{"a block left out", nil, []precis.Edit{precistest.Shorten("1", tr, 9, 1, nil)}, "unchanged m0-m8|removed m9.b1 pruning"},
	} {
		var got []string
		for _, p := range Parts(measure.New(counter{}), &precis.Conversation{Transcript: tr, Edits: tt.before}, tt.made, 1) {
			got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", p.Kind, p.Handle, p.By, p.Text)))
			if p.Before < p.After && p.Kind != PartInserted {
				t.Errorf("%s: %s grows from %d to %d", tt.name, p.Handle, p.Before, p.After)
			}
		}
		if joined := strings.Join(got, "|"); joined != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, joined, tt.want)
		}
	}
}
