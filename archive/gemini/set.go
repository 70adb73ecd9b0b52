package gemini

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/precis-dev/precis/internal/jsonspan"
)

// A session rewrites all of its messages after a compression, when a resumed program has read it,
// and when a hook has added to a result. Only a compression has new content. IDs do not show the
// reason: they change with each rewrite.

// setMessages replaces the list of messages.
func (s *log) setMessages(raw json.RawMessage, line int) error {
	var list []message
	for span, err := range jsonspan.Array(raw) {
		if err != nil {
			return err
		}
		f := jsonspan.Members(span.Raw)
		if jsonspan.Text(f, "type") == "" {
			return errors.New("a message has no type")
		}
		list = append(list, message{id: jsonspan.Text(f, "id"), line: line, fields: f})
	}
	if snapshot := snapshotIn(list); len(s.messages) > 0 && snapshot != "" && snapshot != s.snapshot {
		s.snapshot, s.shorter = snapshot, nil
		s.messages = append(s.messages, message{line: line, compressed: raw, left: list})
		return nil
	}
	more, whole, same := s.align(list)
	switch {
	case !same || len(s.messages) == 0 || !whole && len(more) > 0:
		s.replace(list)
	case !whole: // a resuming program first writes only its first message
		s.shorter = list
	default:
		s.shorter = nil
		for _, m := range more {
			s.put(m)
		}
	}
	return nil
}

// replace sets the messages to a list; the former messages may become a branch.
func (s *log) replace(list []message) {
	was := s.messages
	s.shorter = nil
	s.reset(nil)
	for _, m := range list {
		s.put(m)
	}
	s.snapshot = snapshotIn(list)
	s.keepBranch(was)
}

// listedMessage is a message in the current list, identified by its content.
type listedMessage struct {
	key string
	at  int // index in messages; -1: within a compression
}

// currentList returns the current list: the messages that the newest compression left, and later ones.
func (s *log) currentList() (out []listedMessage) {
	from := 0
	for i, m := range s.messages {
		if m.compressed != nil {
			from, out = i+1, nil
			for _, kept := range m.left {
				out = append(out, listedMessage{keyOf(kept.fields), -1})
			}
		}
	}
	for i := from; i < len(s.messages); i++ {
		out = append(out, listedMessage{keyOf(s.messages[i].fields), i})
	}
	return out
}

// align compares a list with the current messages. more are the additional messages at its end.
// same reports whether the rest occurs in the same order; whole that only results are omitted.
func (s *log) align(list []message) (more []message, whole, same bool) {
	now := s.currentList()
	seen := map[string]bool{}
	next, matched := 0, 0
	for _, m := range list {
		key := keyOf(m.fields)
		if key == "" || seen[key] && strings.HasPrefix(key, answers) {
			continue // a notice, or a duplicate result
		}
		at := slices.IndexFunc(now[next:], func(o listedMessage) bool { return o.key == key })
		switch {
		case at < 0:
			more = append(more, m)
			continue
		case len(more) > 0:
			return nil, false, false
		}
		seen[key] = true
		if o := now[next+at]; o.at >= 0 && m.id != "" {
			s.index[m.id] = o.at
		}
		next += at + 1
		if same = true; !strings.HasPrefix(key, answers) {
			matched++
		}
	}
	spoken := 0
	for _, o := range now {
		if o.key != "" && !strings.HasPrefix(o.key, answers) {
			spoken++
		}
	}
	return more, matched == spoken, same
}

// answers is the prefix of keys of results.
const answers = "answers "

// keyOf identifies a message by its content: its author, text and calls, or the calls that it
// answers. Text added by hooks is excluded. It is "" for messages of neither the user nor the
// model.
func keyOf(f map[string]json.RawMessage) string {
	kind := jsonspan.Text(f, "type")
	if kind != "user" && kind != "gemini" {
		return ""
	}
	var words, calls, results []string
	part := func(raw []byte) {
		p := jsonspan.Members(raw)
		switch {
		case p == nil:
			if s, ok := jsonspan.String(raw); ok {
				words = append(words, s)
			}
		case p["functionResponse"] != nil:
			results = append(results, callKey(p["functionResponse"]))
		case p["functionCall"] != nil:
			calls = append(calls, callKey(p["functionCall"]))
		case jsonspan.Kind(p["thought"]) != 't':
			words = append(words, jsonspan.Text(p, "text"))
		}
	}
	if jsonspan.Kind(f["content"]) == '[' {
		for span, err := range jsonspan.Array(f["content"]) {
			if err != nil {
				break
			}
			part(span.Raw)
		}
	} else {
		part(f["content"])
	}
	if len(results) > 0 {
		return answers + strings.Join(results, " ")
	}
	if jsonspan.Kind(f["toolCalls"]) == '[' && len(calls) == 0 {
		for span, err := range jsonspan.Array(f["toolCalls"]) {
			if err != nil {
				break
			}
			calls = append(calls, callKey(span.Raw))
		}
	}
	said, _, _ := strings.Cut(strings.Join(words, "\n"), "<hook_context>")
	return kind + " " + strings.TrimSpace(said) + "\x00" + strings.Join(calls, " ")
}

// callKey returns the ID of a call or a result, or its name if it has none.
func callKey(raw []byte) string {
	f := jsonspan.Members(raw)
	if id := jsonspan.Text(f, "id"); id != "" {
		return id
	}
	return jsonspan.Text(f, "name")
}

// mostBefore is the maximal number of messages before the snapshot of a compression: the
// program's own description of the session.
const mostBefore = 2

// snapshotIn returns the snapshot message near the beginning of a list, as a key; "" if it has
// none.
func snapshotIn(list []message) string {
	for _, m := range list[:min(len(list), mostBefore+1)] {
		if jsonspan.Text(m.fields, "type") != "user" {
			continue
		}
		if key := keyOf(m.fields); strings.Contains(key, "state_snapshot>") {
			return key
		}
	}
	return ""
}

// SnapshotID returns a text that identifies the snapshot in a session's line; "" if the line has
// none.
func SnapshotID(line []byte) string {
	f := jsonspan.Members(jsonspan.Members(line)["$set"])
	if jsonspan.Kind(f["messages"]) != '[' {
		return ""
	}
	var list []message
	for span, err := range jsonspan.Array(f["messages"]) {
		if err != nil || len(list) > mostBefore {
			break
		}
		list = append(list, message{fields: jsonspan.Members(span.Raw)})
	}
	return snapshotIn(list)
}
