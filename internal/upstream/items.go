package upstream

import (
	"fmt"
	"strings"
)

// items holds the items that the server made, because the Responses API ties reasoning to the items
// after it.
type items struct {
	after   map[string]string // item ID → the reasoning before it
	next    map[string]object // reasoning ID → the item after it
	content map[string]string // encrypted content → reasoning ID
}

func newItems() items {
	return items{after: map[string]string{}, next: map[string]object{}, content: map[string]string{}}
}

// keep stores the output of a response.
func (m items) keep(output []object) {
	reasoning, direct := "", false
	for _, item := range output {
		id := str(item, "id")
		if item["type"] == "reasoning" {
			reasoning, direct = id, true
			m.content[str(item, "encrypted_content")] = id
			continue
		}
		if reasoning != "" {
			m.after[id] = reasoning
		}
		if direct {
			m.next[reasoning], direct = item, false
		}
	}
}

// check returns the reason why the API would refuse the input of a request.
func (m items) check(input []any, stored bool) string {
	shown := map[string]bool{} // IDs of reasoning
	for i, v := range input {
		kind, id := str(v, "type"), str(v, "id")
		switch kind {
		case "item_reference":
			return notStored(id)
		case "reasoning":
			known, problem := m.reasoning(v, stored)
			if problem != "" {
				return problem
			}
			shown[known] = true
			if i+1 == len(input) || !equalsFollowing(m.next[known], input[i+1]) {
				return fmt.Sprintf("Item '%s' of type 'reasoning' was provided without its required following item.", known)
			}
		case "compaction":
			if !strings.HasPrefix(str(v, "encrypted_content"), sealed) {
				return "The encrypted content of a compaction item could not be verified."
			}
		default:
			if needed := m.after[id]; needed != "" && !shown[needed] {
				return fmt.Sprintf("Item '%s' of type '%s' was provided without its required 'reasoning' item: '%s'.", id, kind, needed)
			}
		}
	}
	return ""
}

// reasoning returns the original ID of a reasoning item.
func (m items) reasoning(v any, stored bool) (id, problem string) {
	id = str(v, "id")
	content := str(v, "encrypted_content")
	switch known, ok := m.content[content]; {
	case content == "" && (m.next[id] == nil || !stored):
		return "", notStored(id)
	case content == "":
		return id, ""
	case !ok, id != "" && id != known:
		return "", fmt.Sprintf("The encrypted content for item %s could not be verified. Reason: Encrypted content could not be decrypted or parsed.", id)
	default:
		return known, ""
	}
}

func notStored(id string) string {
	return fmt.Sprintf("Item with id '%s' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.", id)
}

// equalsFollowing reports whether an item equals the one made after a reasoning item.
func equalsFollowing(made object, item any) bool {
	if id := str(item, "id"); id != "" {
		return id == made["id"]
	}
	if call := str(item, "call_id"); call != "" {
		return call == str(made, "call_id")
	}
	return str(item, "role") == "assistant" && made["type"] == "message"
}
