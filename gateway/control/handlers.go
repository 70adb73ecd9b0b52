package control

import (
	"precis"
	"precis/gateway"
)

func (c *call) status() (any, error) {
	now := c.o.Now()
	return status{c.o.Gateway.Status(c.owner), c.o.Started, now.Sub(c.o.Started).Seconds(), c.all}, nil
}

func (c *call) profiles() (any, error) { return c.o.Gateway.Profiles(), nil }

func (c *call) getSettings() (any, error) {
	return c.o.Gateway.Settings(c.reader().text("profile"))
}

func (c *call) patchSettings() (any, error) {
	var p gateway.SettingsPatch
	if err := c.body(&p); err != nil {
		return nil, err
	}
	c.api.settings.Lock()
	defer c.api.settings.Unlock()
	out, err := c.o.Gateway.PatchSettings(c.reader().text("profile"), p)
	if err == nil {
		c.o.Events.publish(Event{Type: EventSettings, Time: c.o.Now(), Profile: &out.Profile})
	}
	return out, err
}

func (c *call) list() (any, error) {
	q := c.reader()
	l := gateway.Listing{Text: q.text("text"), Since: q.time("since"), Before: q.time("before"), Limit: q.size("limit"), Cursor: q.text("cursor")}
	if q.err != nil {
		return nil, q.err
	}
	return c.o.Gateway.Conversations(c.r.Context(), c.owner, l)
}

func (c *call) get() (any, error) {
	return c.o.Gateway.Conversation(c.r.Context(), c.owner, c.id())
}

func (c *call) messages() (any, error) {
	q := c.reader()
	m := gateway.MessageQuery{From: q.number("from"), Limit: q.size("limit"), Cursor: q.text("cursor"), State: q.text("state")}
	if q.err != nil {
		return nil, q.err
	}
	return c.o.Gateway.Messages(c.r.Context(), c.owner, c.id(), m)
}

func (c *call) show() (any, error) {
	return c.o.Gateway.Show(c.r.Context(), c.owner, c.id(), c.r.PathValue("handle"))
}

func (c *call) view() (any, error) {
	return c.o.Gateway.View(c.r.Context(), c.owner, c.id())
}

func (c *call) dialectView() (any, error) {
	d := c.r.PathValue("dialect")
	if d == "own" {
		d = ""
	}
	return c.o.Gateway.ViewAs(c.r.Context(), c.owner, c.id(), d)
}

func (c *call) edits() (any, error) {
	return c.o.Gateway.Edits(c.r.Context(), c.owner, c.id())
}

func (c *call) edit() (any, error) {
	return c.o.Gateway.Edit(c.r.Context(), c.owner, c.id(), c.r.PathValue("edit"))
}

func (c *call) loss() (any, error) {
	return c.o.Gateway.Loss(c.r.Context(), c.owner, c.id())
}

func (c *call) condense() (any, error) {
	var in condensing
	if err := c.body(&in); err != nil {
		return nil, err
	}
	out, err := c.o.Gateway.Condense(c.r.Context(), c.owner, c.id(), gateway.CondenseOptions(in))
	if out.Changed {
		c.tell(notesOf(out.Report))
	}
	return out, err
}

func (c *call) preview() (any, error) {
	var in condensing
	if err := c.body(&in); err != nil {
		return nil, err
	}
	return c.o.Gateway.Preview(c.r.Context(), c.owner, c.id(), gateway.CondenseOptions(in))
}

func (c *call) undo() (any, error) {
	var in undoing
	if err := c.body(&in); err != nil {
		return nil, err
	}
	return c.changed(c.o.Gateway.Undo(c.r.Context(), c.owner, c.id(), in.Edits...))
}

func (c *call) pin() (any, error) {
	var in pinning
	if err := c.body(&in); err != nil {
		return nil, err
	}
	handles := make([]string, len(in.Handles))
	for i, h := range in.Handles {
		handles[i] = h.String()
	}
	return c.changed(c.o.Gateway.Pin(c.r.Context(), c.owner, c.id(), handles...))
}

func (c *call) restore() (any, error) {
	in := restoring{precis.SpanHandle(0, 0)}
	if err := c.body(&in); err != nil {
		return nil, err
	}
	if in.Handle.To == 0 {
		return nil, invalid(opBody, "body: /handle", "it is missing", "")
	}
	return c.changed(c.o.Gateway.Restore(c.r.Context(), c.owner, c.id(), in.Handle.String()))
}

func (c *call) rewind() (any, error) {
	n, err := c.place()
	if err != nil {
		return nil, err
	}
	return c.changed(c.o.Gateway.Rewind(c.r.Context(), c.owner, c.id(), n))
}

func (c *call) branch() (any, error) {
	n, err := c.place()
	if err != nil {
		return nil, err
	}
	rec, err := c.o.Gateway.Branch(c.r.Context(), c.owner, c.id(), n)
	if err != nil {
		return nil, err
	}
	c.w.Header().Set("Location", Prefix+"/conversations/"+rec.ID)
	return rec, nil
}

// place reads a place in a conversation.
func (c *call) place() (int, error) {
	var in upTo
	if err := c.body(&in); err != nil {
		return 0, err
	}
	if in.Messages == nil {
		return 0, invalid(opBody, "body: /messages", "it is missing", "")
	}
	return *in.Messages, nil
}

// changed tells listeners of an edit.
func (c *call) changed(ch gateway.Change, err error) (any, error) {
	if err == nil {
		e := ch.Edit
		c.tell([]EditNote{{ID: e.ID, Kind: e.Kind, TriggeredBy: precis.TriggeredManual}})
	}
	return ch, err
}

func (c *call) tell(edits []EditNote) {
	owner := c.owner
	if owner == gateway.AllOwners {
		var err error
		if owner, err = c.o.Gateway.OwnerOf(c.r.Context(), c.id()); err != nil {
			return
		}
	}
	c.o.Events.publish(Event{Type: EventEdits, Time: c.o.Now(), Owner: owner, Conversation: c.id(), Edits: edits})
}

func (c *call) search() (any, error) {
	q := c.reader()
	o := gateway.SearchOptions{Text: q.text("q"), Conversation: q.text("conversation"), Limit: q.size("limit")}
	if q.err != nil {
		return nil, q.err
	}
	return c.o.Gateway.Search(c.r.Context(), c.owner, o)
}

func (c *call) purge() (any, error) {
	var in purging
	if err := c.body(&in); err != nil {
		return nil, err
	}
	out, err := c.o.Gateway.Purge(c.r.Context(), c.owner, gateway.PurgeOptions(in))
	if err == nil && out.Conversations > 0 {
		c.o.Events.publish(Event{Type: EventPurge, Time: c.o.Now(), Owner: c.owner, Purged: &out})
	}
	return out, err
}

func (c *call) ledger() (any, error) {
	q := c.reader()
	conversation, since := q.text("conversation"), q.time("since")
	if q.err != nil {
		return nil, q.err
	}
	return c.o.Gateway.Ledger(c.r.Context(), c.owner, conversation, since)
}
