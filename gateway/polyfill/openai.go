package polyfill

import (
	"encoding/json"
	"fmt"

	"github.com/precis-dev/precis/internal/jsonspan"
)

// ParseCompaction reads the context_management of OpenAI's Responses API; nil when it requests no
// compaction. The error is an [*Invalid].
func ParseCompaction(raw json.RawMessage) (*Compact, error) {
	const at = "context_management"
	f := &fields{}
	if !absent(raw) && jsonspan.Kind(raw) != '[' {
		return nil, &InvalidError{at, "Invalid type for 'context_management': expected an array of objects."}
	}
	var out *Compact
	for i, e := range f.list(raw, at) {
		at := fmt.Sprintf("%s[%d]", at, i)
		m, err := jsonspan.Fields(e)
		if err != nil {
			return nil, &InvalidError{at, fmt.Sprintf("Invalid type for '%s': expected an object.", at)}
		}
		for _, name := range sorted(m) {
			if name != "type" && name != "compact_threshold" {
				return nil, &InvalidError{at + "." + name,
					fmt.Sprintf("Unknown parameter: '%s.%.40s'.", at, name)}
			}
		}
		if kind, _ := jsonspan.String(m["type"]); kind != "compaction" {
			return nil, &InvalidError{at + ".type",
				fmt.Sprintf("Invalid value: '%.40s'. Supported values are: 'compaction'.", kind)}
		}
		out = &Compact{}
		if v := m["compact_threshold"]; !absent(v) {
			n := &fields{}
			if out.Tokens = n.number(v, at, 1); n.invalid != nil {
				return nil, &InvalidError{at + ".compact_threshold",
					fmt.Sprintf("Invalid value for '%s.compact_threshold': expected an integer of at least 1.", at)}
			}
		}
	}
	return out, f.err()
}
