package storetest

import (
	"encoding/json"
	"reflect"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store"
)

// everyKind returns messages with every kind of block, with bytes that an encoder might change.
func everyKind() []precis.Message {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	at := time.Date(2026, 3, 4, 5, 6, 7, 891234567, time.UTC)
	return []precis.Message{
		{Role: precis.RoleSystem, Content: []precis.Block{precis.Text{Text: "<b>&amp;\u2028\x00 日本"}}},
		{Role: precis.RoleUser, ID: "msg_1", Time: at, Format: "anthropic", Raw: raw("{ \"a\" :\t[1.0, 1e2,\"\\u00e9<&>\"] }\n"), Content: []precis.Block{
			precis.Text{Text: ""},
			precis.Image{MediaType: "image/png", Data: "iVBORw0KGgo=", Width: 3, Height: 4},
			precis.Image{URL: "https://example.org/?a=1&b=<2>"},
			precis.Document{MediaType: "application/pdf", Title: "<t>", Data: "JVBERi0="},
			precis.Document{Text: "plain", URL: "u"},
		}},
		{Role: precis.RoleAssistant, Content: []precis.Block{
			precis.Thinking{Text: "hm", Signature: "c2lnbmF0dXJl"},
			precis.RedactedThinking{Data: "b3BhcXVl"},
			precis.ToolUse{ID: "t1", Name: "read", Input: raw(`{ "path" : "<a>", "n": 10000000000000000001 }`)},
			precis.ToolUse{ID: "t2", Name: "list"},
			precis.ToolUse{ID: "t3", Name: "broken", Input: raw("{\"cut off")},
		}},
		{Role: precis.RoleUser, Content: []precis.Block{
			precis.ToolResult{ToolUseID: "t1", Content: []precis.Block{precis.Text{Text: "line\r\n"}, precis.Opaque{Type: "audio", Raw: raw("{\"x\" : 1}")}}},
			precis.ToolResult{ToolUseID: "t2", IsError: true},
			precis.ToolResult{ToolUseID: "t3", Content: []precis.Block{precis.Image{URL: "u"}}},
		}},
		{Role: precis.RoleAssistant, Format: "chat", Raw: raw("not JSON \xff\xfe"), Content: []precis.Block{precis.Opaque{Type: "server_tool_use", Raw: raw("\xff { ")}}},
		{Role: precis.RoleUser},
		{Role: "developer", Content: []precis.Block{precis.Opaque{}}},
	}
}

func everyBlock(s *suite) {
	msgs := everyKind()
	node := s.add(precis.Fingerprint{}, msgs...)
	t, edits := s.load(node)
	s.wantMessages(t, msgs...)
	for i, want := range msgs {
		if got := t.At(i); !reflect.DeepEqual(got, want) {
			s.Errorf("message %d:\n got %#v\nwant %#v", i, got, want)
		}
	}
	if len(edits) != 0 {
		s.Errorf("edits %v", edits)
	}
	zoned := user("zoned")
	zoned.Time = time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("", 9*3600))
	t, _ = s.load(s.add(node, zoned))
	if got := t.At(t.Len() - 1).Time; !got.Equal(zoned.Time) {
		s.Errorf("time %v, want %v", got, zoned.Time)
	}
}

// refused checks that a store keeps such messages unchanged or refuses them.
func refused(s *suite) {
	for _, m := range []precis.Message{
		user("not UTF-8: \xff"),
		{Role: precis.RoleUser, Content: []precis.Block{precis.ToolUse{ID: "\xc3\x28", Name: "n"}}},
	} {
		first := s.add(precis.Fingerprint{}, user("before"))
		node, err := s.Append(s.ctx, first, m)
		if err != nil {
			s.wantCode("Append", err, precis.CodeInvalid)
			continue
		}
		t, _ := s.load(node)
		s.wantMessages(t, user("before"), m)
	}
}

func appendAgain(s *suite) {
	msgs := talk("again", 6)
	want := nodes(msgs)
	for i, parts := range [][]int{{6}, {6}, {3, 3}, {1, 1, 1, 1, 1, 1}, {2, 4}} {
		var at precis.Fingerprint
		n := 0
		for _, p := range parts {
			at = s.add(at, msgs[n:n+p]...)
			n += p
			if at != want[n-1] {
				s.Fatalf("pass %d: node after %d messages is %s, want %s", i, n, at.Short(), want[n-1].Short())
			}
		}
		t, _ := s.load(at)
		s.wantMessages(t, msgs...)
	}
	// Known messages, then new ones, from every position.
	longer := append(talk("again", 6), user("more"))
	for n := range msgs {
		var parent precis.Fingerprint
		if n > 0 {
			parent = want[n-1]
		}
		t, _ := s.load(s.add(parent, longer[n:]...))
		s.wantMessages(t, longer...)
	}
}

func appendAllOrNothing(s *suite) {
	good := talk("all or nothing", 2)
	bad := user("has no stored form")
	bad.Time = time.Date(12345, 1, 1, 0, 0, 0, 0, time.UTC)
	_, err := s.Append(s.ctx, precis.Fingerprint{}, good[0], good[1], bad)
	s.wantCode("Append", err, precis.CodeInvalid)
	for _, n := range nodes(good) {
		_, _, err := s.Load(s.ctx, n)
		s.wantCode("Load of a node of a failed Append", err, precis.CodeNotFound)
	}
	_, err = s.Body(s.ctx, precis.HashMessage(good[0]))
	s.wantCode("Body of a failed Append", err, precis.CodeNotFound)
}

func branches(s *suite) {
	trunk := talk("trunk", 4)
	at := nodes(trunk)
	s.add(precis.Fingerprint{}, trunk...)
	var tips []precis.Fingerprint
	var paths [][]precis.Message
	for _, n := range []int{4, 3, 3, 1} { // how much of the trunk each shares
		own := talk("branch "+string(rune('a'+len(tips))), 3)
		tips = append(tips, s.add(at[n-1], own...))
		paths = append(paths, append(trunk[:n:n], own...))
	}
	// A branch of a branch, off its first message.
	f := nodes(paths[2])
	twig := talk("twig", 2)
	tips = append(tips, s.add(f[3], twig...))
	paths = append(paths, append(paths[2][:4:4], twig...))
	for i, tip := range tips {
		t, _ := s.load(tip)
		s.wantMessages(t, paths[i]...)
	}
	t, _ := s.load(at[3])
	s.wantMessages(t, trunk...)
	for i, n := range f { // inner nodes load too
		t, _ := s.load(n)
		s.wantMessages(t, paths[2][:i+1]...)
	}
}

// firstForm checks that messages with the same hash are one node, which keeps the first of them;
// at another node the same message keeps its own bytes.
func firstForm(s *suite) {
	variant := func(id string) precis.Message {
		m := user("the same")
		m.ID, m.Raw = id, json.RawMessage(`{ "id": "`+id+`" }`)
		return m
	}
	first := s.add(precis.Fingerprint{}, variant("1"))
	if again := s.add(precis.Fingerprint{}, variant("2")); again != first {
		s.Fatalf("another node for the same message")
	}
	next := s.add(first, variant("3"), variant("4"))
	t, _ := s.load(next)
	s.wantMessages(t, variant("1"), variant("3"), variant("4"))
	t, _ = s.load(s.add(precis.Fingerprint{}, variant("5"), variant("6"), variant("7"), user("end")))
	s.wantMessages(t, variant("1"), variant("3"), variant("4"), user("end"))
	m, err := s.Body(s.ctx, precis.HashMessage(variant("9")))
	if err != nil || form(m) != form(variant("1")) {
		s.Errorf("Body: %s, %v, want the one stored first", form(m), err)
	}
}

func emptyConversation(s *suite) {
	t, edits := s.load(precis.Fingerprint{})
	if t.Len() != 0 || len(edits) != 0 {
		s.Errorf("%d messages and %d edits", t.Len(), len(edits))
	}
	if f := s.add(precis.Fingerprint{}); !f.IsZero() {
		s.Errorf("Append of nothing returned %s", f.Short())
	}
	node := s.add(precis.Fingerprint{}, user("one"))
	if f := s.add(node); f != node {
		s.Errorf("Append of nothing returned %s, want the parent", f.Short())
	}
	if t, _ := s.load(precis.Fingerprint{}); t.Len() != 0 {
		s.Errorf("the empty conversation has %d messages", t.Len())
	}
}

func unknown(s *suite) {
	s.add(precis.Fingerprint{}, user("known"))
	never := nodes([]precis.Message{user("never said")})[0]
	_, _, err := s.Load(s.ctx, never)
	s.wantCode("Load", err, precis.CodeNotFound)
	if l, ok := s.Store.(store.EditLog); ok {
		_, err := l.Edits(s.ctx, never)
		s.wantCode("Edits", err, precis.CodeNotFound)
	}
	f, err := s.Append(s.ctx, never, user("x"))
	s.wantCode("Append", err, precis.CodeNotFound)
	if !f.IsZero() {
		s.Errorf("a failed Append returned %s", f.Short())
	}
	_, err = s.Append(s.ctx, never)
	s.wantCode("Append of nothing", err, precis.CodeNotFound)
	s.wantCode("AddEdit", s.AddEdit(s.ctx, "", pin(never, "e")), precis.CodeNotFound)
	_, err = s.Body(s.ctx, never)
	s.wantCode("Body", err, precis.CodeNotFound)
	_, err = s.Body(s.ctx, precis.Fingerprint{})
	s.wantCode("Body of zero", err, precis.CodeNotFound)
}

func body(s *suite) {
	msgs := everyKind()
	s.add(precis.Fingerprint{}, msgs...)
	for i, want := range msgs {
		got, err := s.Body(s.ctx, precis.HashMessage(want))
		if err != nil || form(got) != form(want) {
			s.Errorf("message %d: %s, %v\nwant %s", i, form(got), err, form(want))
		}
	}
}

func loadedValues(s *suite) {
	msgs := talk("values", 3)
	node := s.add(precis.Fingerprint{}, msgs...)
	s.record(node, "", "a")
	t, edits := s.load(node)
	t.Append(user("said to the caller alone"))
	edits[0].ID = "changed"
	edits[0].Pins[0] = precis.MessageHandle(9)
	_ = append(edits, pin(node, "b"))
	s.add(node, user("said to the store"))
	t, edits = s.load(node)
	s.wantMessages(t, msgs...)
	if len(edits) != 1 || form(edits[0]) != form(pin(node, "a")) {
		s.Errorf("edits %s", form(edits))
	}
}

func large(s *suite) {
	const n = 2000
	msgs := talk("large", n)
	at := nodes(msgs)
	s.add(precis.Fingerprint{}, msgs...)
	s.record(at[n/2], "", "middle")
	s.record(at[n-1], "middle", "end")
	start := time.Now()
	t, _ := s.load(at[n-1])
	s.Logf("%d messages loaded in %v", n, time.Since(start))
	s.wantMessages(t, msgs...)
	s.wantEdits(at[n-1], "middle", "end")
	t, edits := s.load(at[n/2])
	if t.Len() != n/2+1 || len(edits) != 1 {
		s.Errorf("half: %d messages, %d edits", t.Len(), len(edits))
	}
}
