package precis_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis"
)

// anyBlock draws every kind of block, with bytes that JSON would like to touch.
func anyBlock(t *rapid.T) precis.Block {
	raw := rapid.SampledFrom([]json.RawMessage{nil, json.RawMessage(`{ "a" : "<&>" }`), json.RawMessage("{\"x\":1.0}\n"), json.RawMessage("not JSON \xff")})
	s := rapid.SampledFrom([]string{"", "<b>&amp;", "日本\u2028", "plain"})
	switch rapid.IntRange(0, 7).Draw(t, "kind") {
	case 0:
		return precis.Text{Text: s.Draw(t, "s")}
	case 1:
		return precis.Image{MediaType: "image/png", Data: s.Draw(t, "s"), Width: 3, Height: 4}
	case 2:
		return precis.Document{Title: s.Draw(t, "s"), Text: s.Draw(t, "s"), URL: "u"}
	case 3:
		return precis.Thinking{Text: s.Draw(t, "s"), Signature: s.Draw(t, "s")}
	case 4:
		return precis.RedactedThinking{Data: s.Draw(t, "s")}
	case 5:
		return precis.ToolUse{ID: "1", Name: s.Draw(t, "s"), Input: raw.Draw(t, "raw")}
	case 6:
		return precis.ToolResult{ToolUseID: "1", IsError: true, Content: []precis.Block{precis.Text{Text: s.Draw(t, "s")}, precis.Opaque{Type: "o", Raw: raw.Draw(t, "raw")}}}
	}
	return precis.Opaque{Type: s.Draw(t, "s"), Raw: raw.Draw(t, "raw")}
}

func TestStoredFormKeepsEveryByte(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := precis.Message{
			Role: "user", ID: "i", Format: "anthropic", Content: []precis.Block{anyBlock(t), anyBlock(t)},
			Raw: rapid.SampledFrom([]json.RawMessage{nil, json.RawMessage("{ \"a\":\t\"<\" }")}).Draw(t, "raw"),
		}
		e := precis.Edit{ID: "e", Kind: precis.KindClip, Pins: []precis.Handle{precis.SpanHandle(1, 4)}, Replace: []precis.Replacement{
			{From: 1, To: 4, With: []precis.Message{m}},
			{From: 5, To: 6, Block: &precis.BlockRef{Index: 2, Hash: precis.HashMessage(m)}, WithBlock: anyBlock(t)},
			{From: 7, To: 9, Restore: true},
		}}
		data, err := json.MarshalIndent(e, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		var got precis.Edit
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, e) {
			t.Fatalf("stored %s\nread %+v\nwant %+v", data, got, e)
		}
	})
}

func TestStoredFormRefusesWhatItDoesNotKnow(t *testing.T) {
	for _, data := range []string{`{"role":"user","content":[{"type":"hologram"}]}`, `{"role":3}`, `[]`} {
		var m precis.Message
		if err := json.Unmarshal([]byte(data), &m); precis.CodeOf(err) == "" {
			t.Errorf("%s was read", data)
		}
	}
}

func TestHandles(t *testing.T) {
	for _, h := range []precis.Handle{precis.MessageHandle(0), precis.SpanHandle(3, 40), precis.BlockHandle(12, 3)} {
		got, err := precis.ParseHandle(h.String())
		if err != nil || got != h {
			t.Errorf("%s: %v, %v", h, got, err)
		}
	}
	for _, s := range []string{"", "m", "12", "m-1", "m4-m2", "m1.b", "m1.b2.b3", "m1-m2.b3", "m99999999999", "mx"} {
		if h, err := precis.ParseHandle(s); err == nil {
			t.Errorf("%q was read as %v", s, h)
		}
	}
}

func FuzzParseHandle(f *testing.F) {
	f.Add("m12-m40")
	f.Fuzz(func(t *testing.T, s string) {
		h, err := precis.ParseHandle(s)
		if err != nil {
			return
		}
		if again, err := precis.ParseHandle(h.String()); err != nil || again != h {
			t.Fatalf("%q → %v → %v (%v)", s, h, again, err)
		}
	})
}
