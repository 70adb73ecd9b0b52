package contentcoding

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

func pack(t testing.TB, coding, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	switch coding {
	case "gzip", "x-gzip":
		w = gzip.NewWriter(&b)
	case "deflate":
		w = zlib.NewWriter(&b)
	case "bare":
		w, _ = flate.NewWriter(&b, 6)
	case "br":
		w = brotli.NewWriter(&b)
	case "zstd":
		w, _ = zstd.NewWriter(&b)
	default:
		return []byte(text)
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func answer(coding string, body []byte) *http.Response {
	h := http.Header{"Content-Length": {"7"}}
	if coding != "" {
		h.Set("Content-Encoding", coding)
	}
	return &http.Response{Header: h, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: 7}
}

func TestUnpack(t *testing.T) {
	text := strings.Repeat("data: {\"x\":1}\n\n", 1000)
	for coding, by := range map[string]string{"gzip": "gzip", "x-gzip": "gzip", "GZIP": "gzip", "deflate": "deflate", " deflate ": "bare", "br": "br", "zstd": "zstd", "identity": "", "": ""} {
		res := answer(coding, pack(t, by, text))
		if !Unpack(res) {
			t.Fatal(coding)
		}
		got, err := io.ReadAll(res.Body)
		if err != nil || string(got) != text || by != "" && (res.Header.Get("Content-Encoding") != "" || res.ContentLength != -1) {
			t.Errorf("%q: %d bytes, %v, %v", coding, len(got), err, res.Header)
		}
		if err := res.Body.Close(); err != nil {
			t.Error(err)
		}
	}
	twice := answer("gzip, br", pack(t, "br", string(pack(t, "gzip", text))))
	if got, err := io.ReadAll(twice.Body); !Unpack(twice) || err != nil || len(got) == 0 {
		t.Fatal(err)
	}
	twice = answer("gzip, br", pack(t, "br", string(pack(t, "gzip", text))))
	Unpack(twice)
	if got, err := io.ReadAll(twice.Body); err != nil || string(got) != text {
		t.Errorf("twice: %d bytes, %v", len(got), err)
	}
}

func TestWhatCannotBeUnpacked(t *testing.T) {
	if res := answer("snappy", []byte("x")); Unpack(res) || res.Header.Get("Content-Encoding") != "snappy" {
		t.Error("a coding that is not known is taken")
	}
	for _, coding := range []string{"gzip", "deflate", "br", "zstd"} {
		whole := pack(t, coding, strings.Repeat("a line of it\n", 5000))
		for name, body := range map[string][]byte{"no such data": []byte("hello, this is text"), "cut off": whole[:len(whole)/2]} {
			res := answer(coding, body)
			Unpack(res)
			if _, err := io.Copy(io.Discard, res.Body); err == nil || !strings.Contains(err.Error(), coding) {
				t.Errorf("%s, %s: %v", coding, name, err)
			}
		}
		res := answer(coding, nil)
		Unpack(res)
		if got, err := io.ReadAll(res.Body); len(got) > 0 || coding != "br" && coding != "deflate" && err != nil {
			t.Errorf("%s: an empty body: %v", coding, err)
		}
	}
}

// What has come of a stream can be read before the rest comes.
func TestAStreamIsReadAsItComes(t *testing.T) {
	r, w := io.Pipe()
	res := answer("gzip", nil)
	res.Body = r
	Unpack(res)
	next := make(chan struct{})
	go func() {
		z := gzip.NewWriter(w)
		_, _ = io.WriteString(z, "first")
		_ = z.Flush()
		<-next
		_, _ = io.WriteString(z, "second")
		_ = z.Close()
		_ = w.Close()
	}()
	buf := make([]byte, 5)
	if _, err := io.ReadFull(res.Body, buf); err != nil || string(buf) != "first" {
		t.Fatalf("%q, %v", buf, err)
	}
	close(next)
	if rest, err := io.ReadAll(res.Body); err != nil || string(rest) != "second" {
		t.Errorf("%q, %v", rest, err)
	}
}
