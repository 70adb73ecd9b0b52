package dashboard

import (
	"net/http"
	"strconv"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
)

// heldPart is the part of a conversation's head about held requests.
type heldPart struct {
	conversation.Holding
	Token string
	Back  string
}

// holdLimits are the limits that the form offers, in seconds.
var holdLimits = []int{30, 120, 300, 600}

// Limits returns the limits to choose from.
func (h heldPart) Limits() []int { return holdLimits }

// held returns the state of held requests; nil if the home cannot hold requests, or edits are
// disabled.
func (c *call) held() (*heldPart, error) {
	if _, ok := c.home.(conversation.Holder); !ok || !c.mayEdit() {
		return nil, nil
	}
	h, err := conversation.HoldingOf(c.ctx(), c.home, c.id())
	if err != nil {
		return nil, err
	}
	return &heldPart{Holding: h, Token: c.token, Back: c.path("c", c.id())}, nil
}

// holdNext holds the next request, as a form requests.
func (c *call) holdNext() error {
	if err := c.editable(); err != nil {
		return err
	}
	limit := time.Duration(0)
	if text := c.r.PostForm.Get("seconds"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n > int(conversation.MaxHold.Seconds()) {
			return precis.Errorf(precis.CodeInvalid, "read form",
				"seconds is %.20q, want a number of at most %g", text, conversation.MaxHold.Seconds())
		}
		limit = time.Duration(n) * time.Second
	}
	if _, err := conversation.Hold(c.ctx(), c.home, c.id(), limit); err != nil {
		return err
	}
	return c.redirectBack()
}

// sendHeld sends a held request, or withdraws the order.
func (c *call) sendHeld() error {
	if err := c.editable(); err != nil {
		return err
	}
	if _, err := conversation.ReleaseHold(c.ctx(), c.home, c.id(),
		c.r.PostForm.Get("again") != ""); err != nil {
		return err
	}
	return c.redirectBack()
}

// redirectBack redirects to the page that a form names.
func (c *call) redirectBack() error {
	http.Redirect(c.w, c.r, c.inside(c.r.PostForm.Get("back")), http.StatusSeeOther)
	return nil
}
