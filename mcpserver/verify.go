package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	sums "github.com/precis-dev/precis/verify"
)

type verifyIn struct {
	ID      string `json:"id,omitempty" jsonschema:"omitted: the newest"`
	Summary string `json:"summary,omitempty"`
	View    bool   `json:"view,omitempty"`
}

type verifyOut struct {
	Lacks       []sums.Omission `json:"lacks"`
	Contradicts []sums.Doubt    `json:"contradicts"`
	Invents     []sums.Doubt    `json:"invents"`
	verifyRest
}

// verifyRest contains fields that the schema of a verification omits.
type verifyRest struct {
	ID           string       `json:"id"`
	Of           string       `json:"of,omitempty"`
	What         string       `json:"what"`
	Messages     int          `json:"messages"`
	Unread       int          `json:"unread,omitempty"`
	Kinds        []sums.Share `json:"kinds"`
	Lacking      int          `json:"lacking"` // total; Lacks are the first ones
	Contradicted int          `json:"contradicted"`
	Invented     int          `json:"invented"`
	Note         string       `json:"note,omitempty"`
}

// The limits of a verification: bytes of a summary, and items of a list.
const (
	mostSummary = 512 << 10
	mostLacks   = 20
	mostDoubts  = 10
)

var verifyTool = tool[verifyIn, verifyOut]{
	name: "verify", description: "What a session's own compaction, a summary or the view now lost and invented.",
	run: func(ctx context.Context, c *call, in verifyIn) (verifyOut, string, error) {
		if len(in.Summary) > mostSummary {
			return verifyOut{}, "", precis.Errorf(precis.CodeInvalid, "read arguments",
				"summary has %d bytes, want at most %d", len(in.Summary), mostSummary)
		}
		w, err := c.which(ctx, in.ID)
		if err != nil {
			return verifyOut{}, "", err
		}
		v, err := conversation.Verify(ctx, c.home, w.id,
			conversation.VerifyOptions{Summary: in.Summary, CurrentView: in.View})
		if err != nil {
			return verifyOut{}, "", err
		}
		out := verifyOut{first(v.Lacks, mostLacks), first(v.Contradicts, mostDoubts),
			first(v.Invents, mostDoubts), verifyRest{
				ID: v.Conversation, Of: v.Of, What: v.What, Messages: v.Messages, Unread: v.Unread,
				Kinds:   v.Kinds,
				Lacking: len(v.Lacks), Contradicted: len(v.Contradicts), Invented: len(v.Invents),
				Note: w.note,
			}}
		return out, w.line() + out.text(), nil
	},
}

func first[T any](list []T, most int) []T { return list[:min(len(list), most)] }

// text describes the verification in a few lines.
func (o verifyOut) text() string {
	var out strings.Builder
	holds, of := sums.Report{Kinds: o.Kinds}.WordsHeld()
	fmt.Fprintf(&out, "%s: the user's words: %d of %d characters\n", o.What, holds, of)
	if o.Of != "" {
		fmt.Fprintf(&out, "handles are those of session %s\n", o.Of)
	}
	if o.Unread > 0 {
		fmt.Fprintf(&out, "%d bytes at its end were not read\n", o.Unread)
	}
	out.WriteString(lines(o.Kinds,
		func(k sums.Share) string { return fmt.Sprintf("%s: %d of %d", k.Kind, k.Holds, k.Of) }))
	out.WriteString(listed("contradicted", o.Contradicted, o.Contradicts, doubtLine))
	out.WriteString(listed("invented", o.Invented, o.Invents, doubtLine))
	out.WriteString(listed("lacking", o.Lacking, o.Lacks,
		func(l sums.Omission) string { return fmt.Sprintf("%s %s: %s", l.Handle, l.Kind, l.Text) }))
	return out.String()
}

// listed writes a list with its name and the total number of items.
func listed[T any](name string, all int, items []T, line func(T) string) string {
	switch {
	case all == 0:
		return ""
	case len(items) < all:
		name = fmt.Sprintf("%s, the first %d of %d", name, len(items), all)
	}
	return name + ":\n" + lines(items, line)
}

func doubtLine(d sums.Doubt) string {
	at := ""
	if d.Handle != nil {
		at = d.Handle.String() + " "
	}
	return fmt.Sprintf("%s%q: %s", at, d.Text, d.Why)
}
