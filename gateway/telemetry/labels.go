package telemetry

import (
	"strconv"
	"strings"
	"sync"
)

// other replaces names beyond the limit, none replaces an unknown one.
const (
	other = "other"
	none  = "none"
)

// names accepts a limited number of names; later ones become "other".
type names struct {
	most int

	mu    sync.Mutex
	known map[string]bool
}

// name returns the label for a name that a client chose.
func (n *names) name(s string) string {
	const longest = 80
	s = strings.ToValidUTF8(s, "?")
	if s == "" {
		return none
	}
	if len(s) > longest {
		s = strings.ToValidUTF8(s[:longest], "")
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.known[s] {
		return s
	}
	if len(n.known) >= n.most {
		return other
	}
	if n.known == nil {
		n.known = map[string]bool{}
	}
	n.known[s] = true
	return s
}

// class returns the class of an HTTP status, such as "2xx"; "none" for an invalid status.
func class(status int) string {
	if status < 100 || status > 599 {
		return none
	}
	return strconv.Itoa(status/100) + "xx"
}

func orNone(s string) string {
	if s == "" {
		return none
	}
	return s
}
