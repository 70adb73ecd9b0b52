package gateway_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/store/sqlite"
)

// fastUpstream answers at once with a short stream.
func fastUpstream(b *testing.B) string {
	b.Helper()
	answer := []byte("event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"m\",\"usage\":{\"input_tokens\":9,\"output_tokens\":1}}}\n\n" +
		"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n" +
		"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"ok\"}}\n\n" +
		"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":2}}\n\n" +
		"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(answer)
	}))
	b.Cleanup(s.Close)
	return s.URL
}

// bodiesOf returns the bodies of turns that add a little to a conversation
// of about size bytes each time.
func bodiesOf(name string, size, turns int) [][]byte {
	a := newAgent("anthropic", "Task of "+name)
	for n := 0; len(a.body(true)) < size; n++ {
		a.read(n, words(100, n))
	}
	out := make([][]byte, turns)
	for i := range out {
		a.read(100_000+i, words(4, i))
		out[i] = []byte(a.body(true))
	}
	return out
}

func bare(b *testing.B, upstream string) string {
	b.Helper()
	u, err := url.Parse(upstream)
	if err != nil {
		b.Fatal(err)
	}
	p := httputil.NewSingleHostReverseProxy(u)
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 512, 256
	p.Transport, p.FlushInterval = t, -1
	s := httptest.NewServer(p)
	b.Cleanup(s.Close)
	return s.URL
}

func served(b *testing.B, upstream string, tokens int) string {
	b.Helper()
	base, _ := start(b, upstream, func(o *gateway.Options) {
		st, err := sqlite.Open(context.Background(), filepath.Join(b.TempDir(), "c.db"), sqlite.Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = st.Close() })
		o.Store = st
		o.Window = func(context.Context, string) precis.Window {
			return precis.Window{Tokens: tokens, Source: precis.SourceConfigured}
		}
	})
	return base
}

type client struct{ http.Client }

func newClient() *client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 512, 256
	return &client{http.Client{Transport: t}}
}

func (c *client) send(b *testing.B, base string, body []byte) time.Duration {
	start := time.Now()
	req, err := http.NewRequest(http.MethodPost, base+"/v1/messages", bytes.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	res, err := c.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	_, err = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	if err != nil || res.StatusCode != http.StatusOK {
		b.Fatalf("%d %v", res.StatusCode, err)
	}
	return time.Since(start)
}

// BenchmarkGatewayLatency sends each turn of a conversation through a bare
// reverse proxy and through the gateway, one after the other, and reports what
// the gateway adds at the median. "edited" conversations have been reduced, so
// that each body is spliced.
func BenchmarkGatewayLatency(b *testing.B) {
	for _, size := range []int{100 << 10, 1 << 20} {
		for _, edited := range []bool{false, true} {
			name := fmt.Sprintf("%dKB/whole", size>>10)
			tokens := 10_000_000
			if edited {
				name, tokens = fmt.Sprintf("%dKB/edited", size>>10), size/4
			}
			b.Run(name, func(b *testing.B) {
				up := fastUpstream(b)
				proxy, gw, c := bare(b, up), served(b, up, tokens), newClient()
				bodies := bodiesOf(b.Name(), size, 200)
				c.send(b, gw, bodies[0])
				var with, without []time.Duration
				for i := 0; b.Loop(); i++ {
					body := bodies[i%len(bodies)]
					if i > 0 && i%len(bodies) == 0 {
						bodies = bodiesOf(fmt.Sprint(b.Name(), i), size, 200)
						body = bodies[0]
						c.send(b, gw, body)
					}
					without = append(without, c.send(b, proxy, body))
					with = append(with, c.send(b, gw, body))
				}
				slices.Sort(with)
				slices.Sort(without)
				us := func(d []time.Duration, p float64) float64 { return float64(d[int(p*float64(len(d)-1))].Microseconds()) }
				b.ReportMetric(us(without, .5), "bare-µs")
				b.ReportMetric(us(with, .5), "gateway-µs")
				b.ReportMetric(us(with, .5)-us(without, .5), "added-µs")
				b.ReportMetric(us(with, .99)-us(without, .99), "added-p99-µs")
			})
		}
	}
}

// BenchmarkGatewayThroughput holds 64 conversations of 100 KB at once.
func BenchmarkGatewayThroughput(b *testing.B) {
	up := fastUpstream(b)
	for name, base := range map[string]string{"bare": bare(b, up), "gateway": served(b, up, 10_000_000)} {
		b.Run(name, func(b *testing.B) {
			c := newClient()
			const conns = 64
			all := make([][][]byte, conns)
			for i := range all {
				all[i] = bodiesOf(fmt.Sprint(name, i), 100<<10, 60)
				c.send(b, base, all[i][0])
			}
			var next atomic.Int64
			b.SetParallelism(conns / 2)
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				own := all[int(next.Add(1)-1)%conns]
				for i := 0; pb.Next(); i++ {
					c.send(b, base, own[i%len(own)])
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "req/s")
		})
	}
}
