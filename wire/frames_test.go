package wire_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/precis-dev/precis/wire"
)

// framed returns the events of a stream that comes in pieces, and what is left.
func framed(pieces ...string) (events []string, rest string) {
	var f wire.Frames
	for _, p := range pieces {
		f.Add([]byte(p))
		for raw, ok := f.Next(); ok; raw, ok = f.Next() {
			events = append(events, string(raw))
		}
	}
	if n := f.Len(); n != len(f.Rest()) || f.Len() != 0 {
		panic("Len is not that of Rest")
	}
	f = wire.Frames{}
	for _, p := range pieces {
		f.Add([]byte(p))
	}
	for _, ok := f.Next(); ok; _, ok = f.Next() {
	}
	return events, string(f.Rest())
}

func TestFramesKeepEveryByte(t *testing.T) {
	for _, want := range [][]string{
		{"event: a\ndata: 1\n\n", "data:2\n\n", "data: no end"},
		{"data: 1\r\ndata: 2\r\n\r\n", "data: 3\r\r", "data: 4\n\n", ""},
		{": ping\n\n", "\n\n", "data: x\r\n\r\n", "data: 1\r"},
		{"\ndata: after an empty line\n\n", ""},
	} {
		var stream string
		for _, e := range want {
			stream += e
		}
		r := rand.New(rand.NewPCG(1, uint64(len(stream))))
		for range 100 {
			var pieces []string
			for left := stream; left != ""; {
				n := 1 + r.IntN(len(left))
				pieces, left = append(pieces, left[:n]), left[n:]
			}
			events, rest := framed(pieces...)
			if !slices.Equal(append(events, rest), want) {
				t.Fatalf("%q: %q and %q", pieces, events, rest)
			}
		}
	}
}

// TestFramesSpill: however often the beginning of an event is taken away, its end
// is found.
func TestFramesSpill(t *testing.T) {
	var f wire.Frames
	var out []byte
	for _, c := range []byte("data: 123456789\r\n\r\ndata: 2\n\n") {
		f.Add([]byte{c})
		for raw, ok := f.Next(); ok; raw, ok = f.Next() {
			out = append(append(out, raw...), '|')
		}
		if f.Len() > 5 {
			out = append(out, f.Spill()...)
		}
	}
	if want := "data: 123456789\r\n\r\n|data: 2\n\n|"; string(out) != want {
		t.Errorf("%q, want %q", out, want)
	}
}

func TestEventWithOtherData(t *testing.T) {
	for raw, want := range map[string]string{
		"event: a\ndata: {\"n\":1}\n\n":                  "event: a\ndata: {\"n\":2}\n\n",
		"data:{\"n\":1}\r\nid: 7\r\n\r\n":                "data:{\"n\":2}\r\nid: 7\r\n\r\n",
		": x\ndata: {\ndata: \"n\":1}\nid: 7\n\n":        ": x\ndata: {\"n\":2}\nid: 7\n\n",
		": a comment\n\n":                                ": a comment\n\n",
		"data: {\"n\":1}":                                "data: {\"n\":2}",
		"event: a\nid: 1\ndata:\n\n":                     "event: a\nid: 1\ndata:{\"n\":2}\n\n",
		"retry: 5\nevent: data: 9\ndata: [DONE]\nx: y\n": "retry: 5\nevent: data: 9\ndata: {\"n\":2}\nx: y\n",
	} {
		e := wire.ParseEvent([]byte(raw))
		if got := e.With([]byte("{\n\"n\":2\r\n}")); string(got) != want {
			t.Errorf("%q: %q, want %q", raw, got, want)
		}
		if got := e.Clone().With(nil); string(got) != raw {
			t.Errorf("%q: %q without other data", raw, got)
		}
	}
	two := wire.ParseEvent([]byte("data: a\ndata: b\n\n"))
	if string(two.Data) != "a\nb" || two.OneLine() || !wire.ParseEvent([]byte("data: a\n\n")).OneLine() {
		t.Errorf("%q, one line: %v", two.Data, two.OneLine())
	}
}

// TestAppendEvent: what is written is read again.
func TestAppendEvent(t *testing.T) {
	stream := wire.AppendEvent(wire.AppendEvent(nil, "ping", []byte("{\n}")), "", []byte("[1]"))
	if want := "event: ping\ndata: {}\n\ndata: [1]\n\n"; string(stream) != want {
		t.Errorf("%q, want %q", stream, want)
	}
	var got bytes.Buffer
	e := wire.Events{Each: func(name string, data []byte) { got.Write(wire.AppendEvent(nil, name, data)) }}
	if _, err := e.Write(stream); err != nil || !bytes.Equal(got.Bytes(), stream) {
		t.Errorf("%q, %v", got.Bytes(), err)
	}
}
