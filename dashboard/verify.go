package dashboard

import (
	"net/http"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	sums "github.com/precis-dev/precis/verify"
)

// The ways to verify that a page offers.
const (
	verifyOwn  = "own"  // the newest compaction of the client's own program
	verifyNow  = "now"  // the model's current view
	verifyText = "text" // a summary that the reader has pasted
)

// Most items of a list that a page shows.
const (
	mostLacks  = 30 // of one kind
	mostDoubts = 60
)

// verifyPage shows what a summary of a conversation lacks, contradicts and invents.
type verifyPage struct {
	Head     head
	Mode     string
	Missing  string // why there is no compaction of the client's own program
	Verified conversation.Verified
	Lacks    []missingGroup
	Summary  string // the pasted summary
}

// missingGroup lists the items of one kind that a text lacks.
type missingGroup struct {
	Kind string
	All  int
	List []sums.Omission // the first of them
}

// Doubts returns the first of a list of doubts.
func (verifyPage) Doubts(all []sums.Doubt) []sums.Doubt { return all[:min(len(all), mostDoubts)] }

// verify shows what the client's own compaction lost or, on request or without a compaction, what
// the view lacks.
func (c *call) verify() error {
	p := verifyPage{Mode: verifyOwn}
	var err error
	if p.Head, err = c.readHead(); err != nil {
		return err
	}
	if c.value("view") == verifyNow {
		p.Mode = verifyNow
	} else if p.Verified, err = conversation.Verify(c.ctx(), c.home, p.Head.ID, conversation.VerifyOptions{}); precis.CodeOf(err) == precis.CodeNotFound { // the conversation exists
		p.Mode, p.Missing = verifyNow, c.sentences[c.prefs.Lang].Error(err)
	}
	if p.Mode == verifyNow {
		p.Verified, err = conversation.Verify(c.ctx(), c.home, p.Head.ID,
			conversation.VerifyOptions{CurrentView: true})
	}
	if err != nil {
		return err
	}
	return c.showVerify(p)
}

// verifySummary shows what the summary of a form lacks.
func (c *call) verifySummary() error {
	p := verifyPage{Mode: verifyText, Summary: strings.ReplaceAll(c.r.PostForm.Get("summary"), "\r\n", "\n")}
	if strings.TrimSpace(p.Summary) == "" {
		return precis.Errorf(precis.CodeInvalid, "read form", "the summary is empty")
	}
	var err error
	if p.Head, err = c.readHead(); err != nil {
		return err
	}
	if p.Verified, err = conversation.Verify(c.ctx(), c.home, p.Head.ID,
		conversation.VerifyOptions{Summary: p.Summary}); err != nil {
		return err
	}
	return c.showVerify(p)
}

func (c *call) showVerify(p verifyPage) error {
	for _, l := range p.Verified.Lacks {
		n := len(p.Lacks)
		if n == 0 || p.Lacks[n-1].Kind != l.Kind {
			p.Lacks = append(p.Lacks, missingGroup{Kind: l.Kind})
			n++
		}
		g := &p.Lacks[n-1]
		if g.All++; g.All <= mostLacks {
			g.List = append(g.List, l)
		}
	}
	c.write(http.StatusOK, "verify",
		page{Title: c.text("verify.title") + " · " + c.title(p.Head), Tab: "verify", Data: p})
	return nil
}
