package storetest

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis"
)

// likeTheModel applies random appends and edits to the store and to a simple model, and compares
// all answers.
func likeTheModel(s *suite) {
	run := 0
	rapid.Check(s.T, func(t *rapid.T) {
		run++ // each run grows a separate tree in the same store
		m := &model{suite: s, paths: map[precis.Fingerprint][]precis.Message{}, root: fmt.Sprint("run ", run)}
		actions := map[string]func(*rapid.T){
			"append": m.appendSome,
			"whole":  m.appendWhole,
			"edit":   m.edit,
			"stale":  m.stale,
			"again":  m.again,
			"body":   m.body,
			"":       m.check, // after each action
		}
		if s.Reopen != nil {
			actions["reopen"] = func(t *rapid.T) {
				if rapid.IntRange(0, 19).Draw(t, "reopen") == 0 {
					s.Store = s.Reopen(s.T, s.Store)
				}
			}
		}
		t.Repeat(actions)
	})
}

type recorded struct {
	edit  precis.Edit
	after string
}

type model struct {
	*suite
	root    string
	paths   map[precis.Fingerprint][]precis.Message
	order   []precis.Fingerprint // keys of paths in order of creation
	edits   []recorded           // of all nodes, in recording order
	dropped []precis.Fingerprint // by purges
	n       int
}

func (m *model) draw(t *rapid.T) precis.Fingerprint {
	if len(m.order) == 0 {
		return m.grow(t, precis.Fingerprint{}, []precis.Message{user(m.root)})
	}
	return m.order[rapid.IntRange(0, len(m.order)-1).Draw(t, "node")]
}

// messages draws from a small set, so that branches meet again. Raw bytes and identifiers vary,
// as they are not part of a node's fingerprint.
func (m *model) messages(t *rapid.T) []precis.Message {
	one := rapid.Custom(func(t *rapid.T) precis.Message {
		msg := user(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "text"))
		msg.ID = rapid.SampledFrom([]string{"", "1", "2"}).Draw(t, "id")
		return msg
	})
	return rapid.SliceOfN(one, 0, 4).Draw(t, "messages")
}

// grow appends to the store and the model.
func (m *model) grow(t *rapid.T, parent precis.Fingerprint, msgs []precis.Message) precis.Fingerprint {
	got, err := m.Append(m.ctx, parent, msgs...)
	if err != nil {
		t.Fatalf("Append: %v", err)
	}
	path, at := m.paths[parent], parent
	for _, msg := range msgs {
		f := fingerprint(append(slices.Clone(path), msg))
		if _, known := m.paths[f]; !known {
			m.paths[f] = append(slices.Clone(path), msg)
			m.order = append(m.order, f)
		}
		path, at = m.paths[f], f
	}
	if got != at {
		t.Fatalf("Append returned %s, want %s", got.Short(), at.Short())
	}
	return at
}

func fingerprint(path []precis.Message) precis.Fingerprint {
	return precis.NewTranscript(path...).Fingerprint(len(path))
}

func (m *model) appendSome(t *rapid.T) { m.grow(t, m.draw(t), m.messages(t)) }

// appendWhole appends the whole conversation again, as a gateway does.
func (m *model) appendWhole(t *rapid.T) {
	path := m.paths[m.draw(t)]
	m.grow(t, precis.Fingerprint{}, append(slices.Clone(path), m.messages(t)...))
}

// seen returns the edits in force at a node, oldest first.
func (m *model) seen(node precis.Fingerprint) []precis.Edit {
	path := m.paths[node]
	var out []precis.Edit
	for _, r := range m.edits {
		n := len(m.paths[r.edit.At])
		if n <= len(path) && fingerprint(path[:n]) == r.edit.At {
			out = append(out, r.edit)
		}
	}
	return out
}

func last(edits []precis.Edit) string {
	if len(edits) == 0 {
		return ""
	}
	return edits[len(edits)-1].ID
}

func (m *model) edit(t *rapid.T) {
	node := m.draw(t)
	m.n++
	e := pin(node, fmt.Sprint("edit ", m.n))
	after := last(m.seen(node))
	if err := m.AddEdit(m.ctx, after, e); err != nil {
		t.Fatalf("AddEdit after %q: %v", after, err)
	}
	m.edits = append(m.edits, recorded{edit: e, after: after})
}

func (m *model) stale(t *rapid.T) {
	if len(m.edits) == 0 {
		return
	}
	node := m.draw(t)
	after := ""
	if i := rapid.IntRange(-1, len(m.edits)-1).Draw(t, "after"); i >= 0 {
		after = m.edits[i].edit.ID
	}
	if after == last(m.seen(node)) {
		return
	}
	m.n++
	err := m.AddEdit(m.ctx, after, pin(node, fmt.Sprint("stale ", m.n)))
	if precis.CodeOf(err) != precis.CodeConflict {
		t.Fatalf("AddEdit after %q where %q is the newest: %v", after, last(m.seen(node)), err)
	}
}

// again records an edit a second time.
func (m *model) again(t *rapid.T) {
	if len(m.edits) == 0 {
		return
	}
	r := m.edits[rapid.IntRange(0, len(m.edits)-1).Draw(t, "edit")]
	seen := m.seen(r.edit.At)
	newest := last(seen) == r.edit.ID && last(seen[:len(seen)-1]) == r.after
	err := m.AddEdit(m.ctx, r.after, r.edit)
	if newest && err != nil || !newest && precis.CodeOf(err) != precis.CodeConflict {
		t.Fatalf("%s again (the newest: %v): %v", r.edit.ID, newest, err)
	}
}

func (m *model) body(t *rapid.T) {
	path := m.paths[m.draw(t)]
	want := precis.HashMessage(path[len(path)-1])
	got, err := m.Body(m.ctx, want)
	if err != nil || precis.HashMessage(got) != want {
		t.Fatalf("Body: %v, %v", got, err)
	}
}

// check compares a single node, as it runs after every action.
func (m *model) check(t *rapid.T) {
	node := m.draw(t)
	got, edits, err := m.Load(m.ctx, node)
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	if g, w := form(got.Messages()), form(m.paths[node]); g != w {
		t.Fatalf("messages at %s\n got %s\nwant %s", node.Short(), g, w)
	}
	if g, w := form(edits), form(m.seen(node)); g != w {
		t.Fatalf("edits at %s\n got %s\nwant %s", node.Short(), g, w)
	}
}
