package admission_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/precis-dev/precis/gateway/admission"
)

func TestOneOwnerLeavesRoomForOthers(t *testing.T) {
	g := admission.New(admission.Limits{Requests: 8, Body: 1 << 20, Memory: 8 << 20})
	var leave []func()
	for {
		out, err := g.Enter(admission.Turns, "alice")
		if err != nil {
			if !errors.As(err, new(admission.BusyError)) {
				t.Fatal(err)
			}
			break
		}
		leave = append(leave, out)
	}
	if len(leave) != 6 {
		t.Errorf("alice has %d places of 8", len(leave))
	}
	if g.Full() {
		t.Error("there is room for others")
	}
	for range 2 {
		if _, err := g.Enter(admission.Turns, "bob"); err != nil {
			t.Errorf("bob is kept out: %v", err)
		}
	}
	if !g.Full() {
		t.Error("there is no room, and the gate does not say so")
	}
	leave[0]()
	leave[0]() // again: once counts
	if got := g.Active(); got != 7 {
		t.Errorf("%d requests are under way, not 7", got)
	}
	if _, err := g.Enter(admission.Passing, "alice"); err != nil {
		t.Errorf("requests that pass through have places of their own: %v", err)
	}
}

// A body of any bytes in any compression is read whole or refused, never beyond the
// limit, and its memory is given back.
func FuzzBody(f *testing.F) {
	const limit = 64 << 10
	zip := func(data []byte) []byte {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Write(data)
		w.Close()
		return b.Bytes()
	}
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		f.Fatal(err)
	}
	text := bytes.Repeat([]byte(`{"model":"m"}`), 200)
	f.Add("", text)
	f.Add("gzip", zip(text))
	f.Add("gzip", zip(make([]byte, 2*limit)))
	f.Add("gzip", append(zip(text), zip(text)...))
	f.Add("gzip", zip(text)[:40])
	f.Add("zstd", enc.EncodeAll(text, nil))
	f.Add("zstd", enc.EncodeAll(make([]byte, 2*limit), nil))
	f.Add("br", text)
	f.Add("snappy", text)
	f.Add("Deflate, GZIP", zip(text))
	f.Fuzz(func(t *testing.T, encoding string, data []byte) {
		if len(data) > 4*limit {
			return
		}
		g := admission.New(admission.Limits{Requests: 1, Body: limit, Memory: 4 << 20})
		r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(data))
		r.Header.Set("Content-Encoding", encoding)
		b, err := g.Read(httptest.NewRecorder(), r)
		if err == nil && len(b.Bytes) > limit {
			t.Errorf("%d bytes, over the limit", len(b.Bytes))
		}
		if err == nil && !b.Compressed && !bytes.Equal(b.Bytes, data) {
			t.Error("the body was changed")
		}
		b.Release()
		if g.Full() {
			t.Error("memory is not given back")
		}
	})
}

// What a proxy reads after the end must not reach the body: a server closes it when the answer begins.
func TestPaceEndsOnce(t *testing.T) {
	body := admission.Pace(httptest.NewRecorder(), io.NopCloser(&once{left: 3}))
	for range 3 {
		n, err := body.Read(make([]byte, 8))
		if n == 0 && !errors.Is(err, io.EOF) {
			t.Fatalf("after the end: %v", err)
		}
	}
}

// once ends with its last bytes, and is closed then.
type once struct{ left int }

func (o *once) Read(b []byte) (int, error) {
	n := o.left
	if o.left = -1; n < 0 {
		return 0, http.ErrBodyReadAfterClose
	}
	return n, io.EOF
}
