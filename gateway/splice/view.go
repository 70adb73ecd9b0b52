package splice

import (
	"slices"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/policy"
)

// Edited reports whether the view differs from the client's messages: because of edits, or because
// the messages were not valid and had to be repaired, such as a tool result without its call.
func Edited(res policy.Result) bool {
	if len(res.Report.Repairs) > 0 {
		return true
	}
	for _, u := range res.Units {
		if !u.Original() || u.Changed {
			return true
		}
	}
	return false
}

// EndingInPending returns a result with a view that ends in the messages that the client wants
// answered. After a rewind, a client may send the same request again, and its last messages are
// hidden. The view would then end with an earlier result, or with an assistant message, which APIs
// refuse to continue.
func EndingInPending(res policy.Result, msgs []precis.Message) policy.Result {
	if len(msgs) == 0 || msgs[len(msgs)-1].Role == precis.RoleAssistant {
		return res
	}
	last := len(res.Units) - 1
	for last >= 0 && len(res.Units[last].Messages) == 0 {
		last--
	}
	if last < 0 || res.Units[last].To >= len(msgs) {
		return res
	}
	groups := precis.GroupStarts(msgs)
	res.Units, res.View = slices.Clip(res.Units), slices.Clip(res.View)
	for i := groups[len(groups)-1]; i < len(msgs); i++ {
		res.Units = append(res.Units, precis.Unit{From: i, To: i + 1, Messages: msgs[i : i+1 : i+1]})
		res.View = append(res.View, msgs[i])
	}
	return res
}
