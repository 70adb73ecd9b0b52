package wire_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/precis-dev/precis/wire"
)

func read(chunks ...string) (got []string) {
	e := wire.Events{Each: func(name string, data []byte) { got = append(got, name+"="+string(data)) }}
	for _, c := range chunks {
		if n, err := e.Write([]byte(c)); n != len(c) || err != nil {
			panic(fmt.Sprint(n, err))
		}
	}
	e.Flush()
	return got
}

func TestEvents(t *testing.T) {
	for stream, want := range map[string][]string{
		"event: a\ndata: 1\n\ndata:2\n\n":            {"a=1", "=2"},
		"data: 1\r\ndata: 2\r\n\r\ndata: 3\r\r":      {"=1\n2", "=3"},
		": ping\n\nevent: x\n\ndata\n\n":             {"="},
		"data: {\"a\":\"\\n\"}\nid: 7\nretry: 1\n\n": {`={"a":"\n"}`},
		"data: no empty line at the end":             nil,
		"data: one line\n":                           {"=one line"},
		"error: {}\n\ndata: 1\n\n":                   {"error={}", "=1"},
		"":                                           nil,
	} {
		if got := read(stream); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %q, want %q", stream, got, want)
		}
		r := rand.New(rand.NewPCG(1, uint64(len(stream))))
		for range 50 { // however it is cut
			var chunks []string
			for rest := stream; rest != ""; {
				n := 1 + r.IntN(len(rest))
				chunks, rest = append(chunks, rest[:n]), rest[n:]
			}
			if got := read(chunks...); !reflect.DeepEqual(got, want) {
				t.Fatalf("%q: %q, want %q", chunks, got, want)
			}
		}
	}
}

func TestEventsOfAnyLengthTakeBoundedRoom(t *testing.T) {
	huge := strings.Repeat("x", 1<<20)
	chunks := []string{"data: "}
	for range 9 {
		chunks = append(chunks, huge)
	}
	got := read(append(chunks, "\n\ndata: after\n\n")...)
	if len(got) != 2 || len(got[0]) > 5<<20 || got[1] != "=after" {
		t.Errorf("%d events", len(got))
	}
}
