package gateway_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"github.com/precis-dev/precis/gateway"
)

// An upstream that compresses its answers although it is asked not to: its overflow is seen,
// its usage is read, and the client gets what was said, plain.
func TestCompressedAnswersAreRead(t *testing.T) {
	t.Parallel()
	for coding, pack := range map[string]func(io.Writer) io.WriteCloser{
		"gzip":    func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
		"deflate": func(w io.Writer) io.WriteCloser { z, _ := flate.NewWriter(w, 6); return z },
		"br":      func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) },
		"zstd":    func(w io.Writer) io.WriteCloser { z, _ := zstd.NewWriter(w); return z },
	} {
		t.Run(coding, func(t *testing.T) {
			refused := 0
			upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				var b bytes.Buffer
				z := pack(&b)
				status := 200
				if len(body) > 40_000 {
					status, refused = 400, refused+1
					fmt.Fprintf(z, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: %d tokens > 10000 maximum"}}`, len(body)/4)
				} else {
					_, _ = io.WriteString(z, `{"id":"m","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"done"}],"stop_reason":"end_turn","usage":{"input_tokens":321,"output_tokens":7}}`)
				}
				_ = z.Close()
				w.Header().Set("Content-Encoding", coding)
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(status)
				_, _ = w.Write(b.Bytes())
			}))
			defer upstream.Close()
			base, g := start(t, upstream.URL, func(o *gateway.Options) { window(100_000)(o) })
			a := newAgent("anthropic", "Read the files one by one.")
			for n := 1; n <= 40; n++ {
				a.read(n, words(100, n))
			}
			req, err := http.NewRequest("POST", base+a.path(), strings.NewReader(a.body(false)))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Accept-Encoding", "gzip, deflate, br, zstd") // no client of Go unpacks it
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			out, err := io.ReadAll(res.Body)
			var said struct {
				Usage struct {
					Input int `json:"input_tokens"`
				}
			}
			if err != nil || res.StatusCode != 200 || res.Header.Get("Content-Encoding") != "" || json.Unmarshal(out, &said) != nil || said.Usage.Input != 321 {
				t.Errorf("%d %v %.200q, %v", res.StatusCode, res.Header, out, err)
			}
			if refused == 0 {
				t.Error("nothing was too long")
			}
			if l := only(t, g); l.Requests != 1 {
				t.Errorf("%+v", l)
			}
		})
	}
}
