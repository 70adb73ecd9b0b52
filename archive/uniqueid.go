package archive

import (
	"fmt"

	"github.com/precis-dev/precis"
)

// UniqueIDs gives a new ID to a tool use with an ID that was used before, and to its result. Some
// models restart the numbering of their calls, or use one ID for all. The zero value is ready. One
// UniqueIDs serves one conversation, message by message.
type UniqueIDs struct {
	uses       map[string]int    // number of uses of each ID
	newestName map[string]string // the name given to the newest tool use with an ID
}

// Assign returns m with unique IDs. It may change m's content in place.
func (u *UniqueIDs) Assign(m precis.Message) precis.Message {
	if u.uses == nil {
		u.uses, u.newestName = map[string]int{}, map[string]string{}
	}
	for i, b := range m.Content {
		switch b := b.(type) {
		case precis.ToolUse:
			b.ID = u.use(b.ID)
			m.Content[i] = b
		case precis.ToolResult:
			if id, ok := u.newestName[b.ToolUseID]; ok {
				b.ToolUseID = id
				m.Content[i] = b
			}
		}
	}
	return m
}

func (u *UniqueIDs) use(id string) string {
	u.uses[id]++
	name := id
	for u.uses[id] > 1 {
		name = fmt.Sprintf("%s_%d", id, u.uses[id])
		if u.uses[name] == 0 {
			u.uses[name] = 1
			break
		}
		u.uses[id]++
	}
	u.newestName[id] = name
	return name
}
