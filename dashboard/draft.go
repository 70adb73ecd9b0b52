package dashboard

import (
	"net/http"
	"strings"

	"github.com/precis-dev/precis/conversation"
)

// draftPage shows a condensation that is not in force, for editing its texts.
type draftPage struct {
	Head  head
	Draft conversation.Draft
	Would *condensed
}

// textField begins the name of the form field with the text of an edit.
const textField = "text."

// makeDraft condenses as a form requests, without putting the edits in force, and redirects to the
// draft.
func (c *call) makeDraft() error {
	if err := c.editable(); err != nil {
		return err
	}
	o, err := optionsOf(c.r.PostForm)
	if err != nil {
		return err
	}
	o.Force = false // losses are confirmed when it is applied
	d, err := c.drafts.Make(c.ctx(), c.home, c.id(), o)
	if err != nil {
		return err
	}
	to := c.path("c", c.id(), "condense")
	if d.ID != "" {
		to = c.path("c", c.id(), "draft", d.ID)
	}
	http.Redirect(c.w, c.r, to, http.StatusSeeOther)
	return nil
}

// draft shows a draft.
func (c *call) draft() error {
	p := draftPage{}
	var err error
	if p.Head, err = c.readHead(); err != nil {
		return err
	}
	if p.Draft, err = c.drafts.Read(c.ctx(), c.home, c.id(), c.r.PathValue("draft")); err != nil {
		return err
	}
	if p.Would, err = c.describeCondensation(p.Draft.Condensed); err != nil {
		return err
	}
	return c.show("draft", page{Title: c.text("draft.title") + " · " + c.title(p.Head), Tab: "view", Data: p})
}

// applyDraft puts a draft in force with the texts of a form, and redirects back.
func (c *call) applyDraft() error {
	if err := c.editable(); err != nil {
		return err
	}
	texts := map[string]string{}
	for name, values := range c.r.PostForm {
		if edit, ok := strings.CutPrefix(name, textField); ok && len(values) == 1 {
			texts[edit] = values[0]
		}
	}
	apply := c.drafts.Apply
	if c.r.PostForm.Get("force") != "" {
		apply = c.drafts.ApplyForced
	}
	out, err := apply(c.ctx(), c.home, c.id(), c.r.PathValue("draft"), texts)
	if err != nil {
		return err
	}
	made := out.Made()
	c.o.Events.Edited(c.r, c.id(), made)
	c.done(made[len(made)-1].ID)
	return nil
}
