package dashboard

import "github.com/precis-dev/precis/conversation"

// familyPage shows the tree that a conversation belongs to: sub-agents, sub-tasks, forks.
type familyPage struct {
	Head head
	Rows []listRow
}

func (c *call) family() error {
	p := familyPage{}
	var err error
	if p.Head, err = c.readHead(); err != nil {
		return err
	}
	kin, err := conversation.Tree(c.ctx(), c.home, c.id())
	if err != nil {
		return err
	}
	for _, k := range kin {
		row := c.listRow(k.ListItem)
		row.Depth = min(k.Depth, 8)
		p.Rows = append(p.Rows, row)
	}
	return c.show("family", page{Title: c.text("family.title") + " · " + c.title(p.Head), Tab: "family",
		Data: p})
}
