package dashboard

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
)

// branching is the verb that makes a conversation instead of an edit.
const branching conversation.Verb = "branch"

// effectPage shows the effect of an action before it is done.
type effectPage struct {
	Head     head
	Verb     conversation.Verb
	Intent   conversation.EditRequest
	Forecast *conversation.Forecast // nil: a branch
	Handle   string
	Back     string
}

// intent reads the action requested by a URL or a form.
func (c *call) intent(v url.Values) (conversation.EditRequest, error) {
	i := conversation.EditRequest{Verb: conversation.Verb(c.r.PathValue("verb")), Edits: v["edit"],
		Text: strings.ReplaceAll(v.Get("text"), "\r\n", "\n"), Force: v.Get("force") != ""}
	if text := v.Get("handle"); text != "" {
		h, err := precis.ParseHandle(text)
		if err != nil {
			return i, err
		}
		i.Handles = []precis.Handle{h}
	}
	if text := v.Get("messages"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			return i, precis.Errorf(precis.CodeInvalid, "read form", "messages is %.20q, want a number", text)
		}
		i.Messages = n
	}
	return i, nil
}

// showEffect shows the effect of an action.
func (c *call) showEffect() error {
	i, err := c.intent(c.r.URL.Query())
	if err != nil {
		return err
	}
	e := effectPage{Verb: i.Verb, Intent: i, Back: c.inside(c.value("back"))}
	if e.Head, err = c.readHead(); err != nil {
		return err
	}
	if len(i.Handles) > 0 {
		e.Handle = i.Handles[0].String()
	}
	if i.Verb == conversation.VerbReword {
		return c.reword(e)
	}
	if i.Verb != branching {
		f, err := conversation.PreviewEdit(c.ctx(), c.home, c.id(), i)
		if err != nil {
			return err
		}
		e.Forecast = &f
	}
	return c.show("effect", page{Title: c.text("verb." + string(knownVerb(i.Verb))), Tab: "view", Data: e})
}

// rewordPage is a form with the text that an edit shows.
type rewordPage struct {
	effectPage
	Edit conversation.EditInfo
	Text string
}

// reword shows the text of a summary for editing.
func (c *call) reword(e effectPage) error {
	p := rewordPage{effectPage: e}
	var err error
	if p.Edit, err = conversation.Edit(c.ctx(), c.home, c.id(), c.value("edit")); err != nil {
		return err
	}
	for _, ch := range p.Edit.Changes {
		for _, m := range ch.Messages {
			for _, b := range m.Blocks {
				p.Text += b.Text
			}
		}
	}
	return c.show("reword", page{Title: c.text("verb.reword"), Tab: "view", Data: p})
}

// knownVerb returns an existing verb; an unknown one would have no text.
func knownVerb(v conversation.Verb) conversation.Verb {
	all := []conversation.Verb{conversation.VerbUndo, conversation.VerbPin, conversation.VerbRestore,
		conversation.VerbExclude, conversation.VerbReword, conversation.VerbRewind, branching}
	if slices.Contains(all, v) {
		return v
	}
	return conversation.VerbUndo
}

// mayEdit reports whether the caller may change conversations.
func (c *call) mayEdit() bool { return c.o.Edits && (c.o.Admits == nil || c.o.Admits(c.r)) }

// readonly returns the notice of a read-only page, with the way to change the conversation.
func (c *call) readonly() string {
	if c.o.Edits {
		return c.text("readonly.stranger")
	}
	return c.text("readonly")
}

// editable returns the reason why the caller may not change the conversation.
func (c *call) editable() error {
	if c.mayEdit() {
		return nil
	}
	return refusal{http.StatusForbidden,
		&precis.Error{Code: precis.CodeInvalid, Op: "edit conversation", Err: errors.New(c.readonly())}}
}

// do carries out the action of a form, and redirects back.
func (c *call) do() error {
	if err := c.editable(); err != nil {
		return err
	}
	i, err := c.intent(c.r.PostForm)
	if err != nil {
		return err
	}
	if i.Verb == branching {
		rec, err := conversation.Branch(c.ctx(), c.home, c.id(), i.Messages)
		if err != nil {
			return err
		}
		c.o.Events.Edited(c.r, rec.ID, nil)
		http.Redirect(c.w, c.r, c.path("c", rec.ID), http.StatusSeeOther)
		return nil
	}
	change, err := conversation.Apply(c.ctx(), c.home, c.id(), i)
	if err != nil {
		return err
	}
	c.o.Events.Edited(c.r, c.id(), []conversation.EditInfo{change.Edit})
	c.done(change.Edit.ID)
	return nil
}

// done redirects to the page where an action was requested, which then reports the action.
func (c *call) done(edit string) {
	back, err := url.Parse(c.inside(c.r.PostForm.Get("back")))
	if err != nil || back.Path == c.o.Base {
		back = &url.URL{Path: c.path("c", c.id())}
	}
	q := back.Query()
	q.Del("part")
	q.Set("did", edit)
	if q.Del("forced"); c.r.PostForm.Get("force") != "" {
		q.Set("forced", "1")
	}
	back.RawQuery = q.Encode()
	http.Redirect(c.w, c.r, back.String(), http.StatusSeeOther)
}
