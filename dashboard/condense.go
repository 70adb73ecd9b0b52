package dashboard

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/diff"
	"github.com/precis-dev/precis/internal/visible"
	"github.com/precis-dev/precis/policy"
)

// condensePage is the form of a condensation, with a preview.
type condensePage struct {
	Head     head
	Ask      conversation.CondenseOptions
	Target   string         // of Ask, as in the form
	Range    *precis.Handle // only these messages are condensed; nil: all
	Profiles []string
	Preview  *condensed
	Failed   *problem     // why there is no preview
	Refused  bool         // a condensation would lose content, so it was not applied
	Loses    *policy.Loss // content it would lose entirely; a second click applies it anyway; nil: none
}

// condensed is the preview of a condensation.
type condensed struct {
	conversation.Condensed
	Bar   bar // after it
	Parts []partView
}

// partView is one difference between two views.
type partView struct {
	diff.Part
	Rows []diffRow
	Text string
	Cut  int
}

// options reads the options of a condensation.
func optionsOf(v url.Values) (conversation.CondenseOptions, error) {
	o := conversation.CondenseOptions{Focus: v.Get("focus"), Summarizer: v.Get("by"),
		Profile: v.Get("profile"), Force: v.Get("force") != ""}
	target, err := policy.ParseTarget(v.Get("target"))
	if err != nil {
		return o, err
	}
	o.Target, o.Share = target.Tokens, target.Share
	for name, to := range map[string]*int{"from": &o.From, "to": &o.To} {
		text := v.Get(name)
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return o, precis.Errorf(precis.CodeInvalid, "read form", "%s is %.20q, want a message", name,
				text)
		}
		*to = n
	}
	return o, nil
}

// profiles returns the names of the offered profiles.
func (c *call) profiles() []string {
	if c.o.Profiles == nil {
		return nil
	}
	return c.o.Profiles()
}

// condenseForm shows the form and the preview.
func (c *call) condenseForm() error {
	p := condensePage{Profiles: c.profiles()}
	var err error
	if p.Head, err = c.readHead(); err != nil {
		return err
	}
	if p.Ask, err = optionsOf(c.r.URL.Query()); err != nil {
		return err
	}
	if p.Ask.To > 0 { // a chosen row may be half of a call with its result
		if p.Ask.From, p.Ask.To, err = conversation.WholeRange(c.ctx(), c.home, c.id(), p.Ask.From,
			p.Ask.To); err != nil {
			return err
		}
	}
	return c.showCondense(http.StatusOK, p)
}

// refusedCondense shows the form again after a condensation that would have lost content entirely:
// the content, and a way to apply it anyway.
func (c *call) refusedCondense(o conversation.CondenseOptions, loss *conversation.LossError) error {
	p := condensePage{Profiles: c.profiles(), Ask: o, Refused: true, Loses: &loss.Loss}
	var err error
	if p.Head, err = c.readHead(); err != nil {
		return err
	}
	return c.showCondense(http.StatusConflict, p)
}

// showCondense makes the preview and shows the form with it.
func (c *call) showCondense(status int, p condensePage) error {
	var err error
	p.Ask.Force = false // applies to a single click
	p.Target = policy.Target{Tokens: p.Ask.Target, Share: p.Ask.Share}.String()
	if p.Ask.To > 0 {
		h := precis.SpanHandle(p.Ask.From, p.Ask.To)
		p.Range = &h
	}
	if p.Preview, err = c.preview(p.Ask); err != nil {
		p.Failed = &problem{Code: precis.CodeOf(err), Text: err.Error()}
	}
	if p.Preview != nil && p.Loses == nil {
		p.Loses = p.Preview.Loses
	}
	c.write(status, "condense", page{Title: c.text("verb.condense") + " · " + c.title(p.Head), Tab: "view",
		Data: p})
	return nil
}

// preview previews a condensation.
func (c *call) preview(o conversation.CondenseOptions) (*condensed, error) {
	would, err := conversation.Preview(c.ctx(), c.home, c.id(), o)
	if err != nil {
		return nil, err
	}
	return c.describeCondensation(would)
}

// describeCondensation describes the effect of a condensation that is not in force.
func (c *call) describeCondensation(would conversation.Condensed) (*condensed, error) {
	comp, err := conversation.CompositionOf(c.ctx(), c.home, c.id(), would.Result.Edits...)
	if err != nil {
		return nil, err
	}
	out := &condensed{Condensed: would, Bar: newBar(comp)}
	factor := would.Report.Calibration
	if factor == 0 {
		factor = 1
	}
	parts, err := conversation.Diff(c.ctx(), c.home, c.id(), would.Result.Edits, factor)
	if err != nil {
		return nil, err
	}
	for _, p := range parts {
		v := partView{Part: p, Text: visible.FirstBytes(p.Text, 4*blockShown)}
		v.Cut = len(p.Text) - len(v.Text)
		if p.Kind == diff.PartPreview {
			v.Rows = diffRows(visible.FirstBytes(p.Was, wholeShown), visible.FirstBytes(p.Text, wholeShown))
		}
		out.Parts = append(out.Parts, v)
	}
	return out, nil
}

// condense condenses as a form requests, and redirects back.
func (c *call) condense() error {
	if err := c.editable(); err != nil {
		return err
	}
	o, err := optionsOf(c.r.PostForm)
	if err != nil {
		return err
	}
	out, err := conversation.Condense(c.ctx(), c.home, c.id(), o)
	if loss, ok := errors.AsType[*conversation.LossError](err); ok {
		return c.refusedCondense(o, loss)
	}
	if err != nil {
		return err
	}
	made := out.Made()
	if len(made) == 0 {
		http.Redirect(c.w, c.r, c.path("c", c.id(), "condense"), http.StatusSeeOther)
		return nil
	}
	c.o.Events.Edited(c.r, c.id(), made)
	c.done(made[len(made)-1].ID)
	return nil
}

// comparePage shows one conversation under two profiles.
type comparePage struct {
	Head     head
	Profiles []string
	Target   string // size to reduce to, as in the form; "": by the settings of each
	Sides    [2]side
}

// side is the preview of one profile.
type side struct {
	Profile string
	Preview *condensed
	Failed  *problem
}

func (c *call) compare() error {
	p := comparePage{Profiles: c.profiles()}
	target, err := policy.ParseTarget(c.value("target"))
	if err != nil {
		return err
	}
	p.Target = target.String()
	if p.Head, err = c.readHead(); err != nil {
		return err
	}
	names := [2]string{c.value("a"), c.value("b")}
	if n := len(p.Profiles); names[1] == "" && n > 0 {
		names[1] = p.Profiles[min(1, n-1)] // the first one is often the current one
	}
	for i, name := range names {
		s := side{Profile: name}
		if s.Preview, err = c.preview(conversation.CondenseOptions{Profile: name,
			Summarizer: conversation.ByDigest, Target: target.Tokens, Share: target.Share}); err != nil {
			s.Failed = &problem{Code: precis.CodeOf(err), Text: err.Error()}
		}
		p.Sides[i] = s
	}
	return c.show("compare", page{Title: c.text("compare.title") + " · " + c.title(p.Head), Tab: "compare",
		Data: p})
}
