package wire_test

import (
	"bytes"
	"testing"

	"github.com/precis-dev/precis/wire"
)

// A stream is cut into the same events however its bytes come, and no byte is lost.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("event: a\ndata: {}\n\ndata: b\r\n\r\n: c\n\nrest"), uint8(1))
	f.Add([]byte("\n\n\r\r\n\n\r\n"), uint8(2))
	f.Add([]byte("data:\ndata:  {}\n\n"), uint8(1))
	f.Fuzz(func(t *testing.T, stream []byte, step uint8) {
		whole, rest := cutFrames(stream, len(stream))
		pieces, restOfPieces := cutFrames(stream, max(int(step), 1))
		if !bytes.Equal(bytes.Join(append(whole, rest), nil), stream) {
			t.Fatal("bytes are lost")
		}
		if !bytes.Equal(bytes.Join(append(pieces, restOfPieces), nil), stream) {
			t.Fatal("bytes are lost in pieces")
		}
		if len(whole) != len(pieces) {
			t.Fatalf("%d events, and %d in pieces of %d bytes", len(whole), len(pieces), step)
		}
		for _, raw := range whole {
			e := wire.ParseEvent(raw)
			again := wire.ParseEvent(e.With(e.Data)) // JSON, whose line breaks mean nothing
			if e.Data != nil && string(unbroken(again.Data)) != string(unbroken(e.Data)) {
				t.Fatalf("%q has the data %q, then %q", raw, e.Data, again.Data)
			}
		}
	})
}

func cutFrames(stream []byte, step int) (events [][]byte, rest []byte) {
	var f wire.Frames
	for at := 0; at < len(stream); at += step {
		f.Add(stream[at:min(at+step, len(stream))])
		for {
			raw, ok := f.Next()
			if !ok {
				break
			}
			events = append(events, bytes.Clone(raw))
		}
	}
	return events, f.Rest()
}

func unbroken(data []byte) []byte {
	return bytes.ReplaceAll(bytes.ReplaceAll(data, []byte("\n"), nil), []byte("\r"), nil)
}
