package control

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/ledger"
	"github.com/precis-dev/precis/gateway/profiles"
)

func getStatus(c *call) (any, error) {
	now := c.o.Now()
	return status{c.o.Gateway.Status(c.owner), c.o.Started, now.Sub(c.o.Started).Seconds(), c.all}, nil
}

func listWindows(c *call) (any, error) {
	return windowList{c.o.Gateway.Windows().List(c.r.Context(), c.owner)}, nil
}

func forgetWindows(c *call, in forgetWindowsBody) (any, error) {
	n, err := c.o.Gateway.Windows().Forget(c.r.Context(), c.owner, in.Upstream, in.Model)
	if err != nil {
		return nil, err
	}
	return forgottenWindows{n}, nil
}

func listProfiles(c *call) (any, error) { return c.o.Gateway.Profiles().List(), nil }

func getSettings(c *call) (any, error) {
	return c.o.Gateway.Profiles().Settings(c.reader().text("profile"))
}

func patchSettings(c *call, p settingsPatch) (any, error) {
	change := c.o.Gateway.Profiles().Patch
	if p.Persist {
		if c.o.Save == nil {
			return nil, precis.Errorf(precis.CodeConflict, "patch settings", "there is no file to write to")
		}
		change = func(profile string, p profiles.Patch) (profiles.Settings, error) {
			return c.o.Save(c.r.Context(), profile, p)
		}
	}
	out, err := change(c.reader().text("profile"), p.Patch)
	if err == nil {
		c.o.Events.publish(Event{Type: EventSettings, Time: c.o.Now(), Profile: &out.Profile})
	}
	return out, err
}

func listConversations(c *call) (any, error) {
	q := c.reader()
	l := conversation.ListQuery{Text: q.text("text"), Since: q.time("since"), Before: q.time("before"),
		Limit: q.size("limit"), Cursor: q.text("cursor")}
	if q.err != nil {
		return nil, q.err
	}
	return conversation.List(c.r.Context(), c.home(), l)
}

func listMessages(c *call) (any, error) {
	q := c.reader()
	m := conversation.MessageQuery{From: q.number("from"), Limit: q.size("limit"), Cursor: q.text("cursor"),
		State: conversation.State(q.text("state"))}
	if q.err != nil {
		return nil, q.err
	}
	return conversation.Messages(c.r.Context(), c.home(), c.id(), m)
}

func showMessages(c *call) (any, error) {
	h, err := precis.ParseHandle(c.r.PathValue("handle"))
	if err != nil {
		return nil, err
	}
	return conversation.ReadOriginals(c.r.Context(), c.home(), c.id(), h)
}

func getDialectView(c *call) (any, error) {
	d := c.r.PathValue("dialect")
	if d == "own" {
		d = ""
	}
	return conversation.ViewAs(c.r.Context(), c.home(), c.id(), d)
}

func getEdit(c *call) (any, error) {
	return conversation.Edit(c.r.Context(), c.home(), c.id(), c.r.PathValue("edit"))
}

// verifyView verifies the newest compaction of the client's own program, or the model's current
// view.
func verifyView(c *call) (any, error) {
	o := conversation.VerifyOptions{}
	switch view := c.reader().text("view"); view {
	case "":
	case "now":
		o.CurrentView = true
	default:
		return nil, invalid(opQuery, "view", fmt.Sprintf("%.40q is no view", view),
			"view=now is what the model sees now; without it the newest compaction of the client is verified")
	}
	return conversation.Verify(c.r.Context(), c.home(), c.id(), o)
}

func verify(c *call, in verifyBody) (any, error) {
	if strings.TrimSpace(in.Summary) == "" {
		return nil, invalid(opBody, "body: /summary", "it is missing or empty",
			"GET verifies the newest compaction of the client")
	}
	return conversation.Verify(c.r.Context(), c.home(), c.id(),
		conversation.VerifyOptions{Summary: in.Summary})
}

func condense(c *call, in condensing) (any, error) {
	out, err := conversation.Condense(c.r.Context(), c.home(), c.id(), in.options())
	if err == nil && out.Changed {
		c.publish(notesOf(out.Report))
	}
	return out, err
}

func preview(c *call, in condensing) (any, error) {
	return conversation.Preview(c.r.Context(), c.home(), c.id(), in.options())
}

func draft(c *call, in condensing) (any, error) {
	return c.drafts.Make(c.r.Context(), c.home(), c.id(), in.options())
}

func applyDraft(c *call, in applying) (any, error) {
	if in.Draft == "" {
		return nil, invalid(opBody, "body: /draft", "it is missing", "")
	}
	apply := c.drafts.Apply
	if in.Force {
		apply = c.drafts.ApplyForced
	}
	out, err := apply(c.r.Context(), c.home(), c.id(), in.Draft, in.Texts)
	if err == nil {
		c.publish(notesOf(out.Report))
	}
	return out, err
}

func undo(c *call, in undoing) (any, error) {
	return c.changed(conversation.Undo(c.r.Context(), c.home(), c.id(), in.Edits...))
}

func pin(c *call, in pinning) (any, error) {
	return c.changed(conversation.Pin(c.r.Context(), c.home(), c.id(), in.Handles...))
}

func restore(c *call, in restoring) (any, error) {
	if in.Handle.To == 0 {
		return nil, invalid(opBody, "body: /handle", "it is missing", "")
	}
	return c.changed(conversation.Restore(c.r.Context(), c.home(), c.id(), in.Handle))
}

func exclude(c *call, in excluding) (any, error) {
	if in.Handle.To == 0 {
		return nil, invalid(opBody, "body: /handle", "it is missing", "")
	}
	return c.changed(conversation.Apply(c.r.Context(), c.home(), c.id(),
		conversation.EditRequest{Verb: conversation.VerbExclude, Handles: []precis.Handle{in.Handle},
			Force: in.Force}))
}

func reword(c *call, in rewording) (any, error) {
	if in.Edit == "" {
		return nil, invalid(opBody, "body: /edit", "it is missing", "")
	}
	return c.changed(conversation.Apply(c.r.Context(), c.home(), c.id(),
		conversation.EditRequest{Verb: conversation.VerbReword, Edits: []string{in.Edit}, Text: in.Text,
			Force: in.Force}))
}

func rewind(c *call, in upTo) (any, error) {
	n, err := in.place()
	if err != nil {
		return nil, err
	}
	return c.changed(conversation.Rewind(c.r.Context(), c.home(), c.id(), n))
}

func branch(c *call, in upTo) (any, error) {
	n, err := in.place()
	if err != nil {
		return nil, err
	}
	rec, err := conversation.Branch(c.r.Context(), c.home(), c.id(), n)
	if err != nil {
		return nil, err
	}
	c.w.Header().Set("Location", Prefix+"/conversations/"+rec.ID)
	return rec, nil
}

// place returns the position.
func (in upTo) place() (int, error) {
	if in.Messages == nil {
		return 0, invalid(opBody, "body: /messages", "it is missing", "")
	}
	return *in.Messages, nil
}

// changed publishes an edit.
func (c *call) changed(ch conversation.Change, err error) (any, error) {
	if err == nil {
		e := ch.Edit
		c.publish([]EditNote{{ID: e.ID, Kind: e.Kind, TriggeredBy: precis.TriggeredManual}})
	}
	return ch, err
}

func (c *call) publish(edits []EditNote) {
	owner, err := c.home().(conversation.Owned).OwnerOf(c.r.Context(), c.id())
	if err != nil {
		return
	}
	c.o.Events.publish(Event{Type: EventEdits, Time: c.o.Now(), Owner: owner, Conversation: c.id(),
		Edits: edits})
}

func hold(c *call, in holdBody) (any, error) {
	return conversation.Hold(c.r.Context(), c.home(), c.id(), time.Duration(in.Seconds)*time.Second)
}

func sendHeld(c *call, in sendHeldBody) (any, error) {
	return conversation.ReleaseHold(c.r.Context(), c.home(), c.id(), in.Again)
}

func search(c *call) (any, error) {
	q := c.reader()
	o := conversation.SearchOptions{Text: q.text("q"), Conversation: q.text("conversation"),
		Limit: q.size("limit"), Exact: q.boolean("exact")}
	if q.err != nil {
		return nil, q.err
	}
	return conversation.Search(c.r.Context(), c.home(), o)
}

func purge(c *call, in purging) (any, error) {
	out, err := conversation.Purge(c.r.Context(), c.home(), conversation.PurgeOptions(in))
	if err == nil && out.Conversations > 0 {
		c.o.Events.publish(Event{Type: EventPurge, Time: c.o.Now(), Owner: c.owner, Purged: &out})
	}
	return out, err
}

func getLedger(c *call) (any, error) {
	q := c.reader()
	id, since := q.text("conversation"), q.time("since")
	if q.err != nil {
		return nil, q.err
	}
	return ledger.Since(c.r.Context(), c.home(), id, since)
}

func composition(ctx context.Context, h conversation.Home, id string) (conversation.Composition, error) {
	return conversation.CompositionOf(ctx, h, id)
}
