package dashboard_test

import (
	"bufio"
	"net/http"
	"strings"
	"testing"
)

// listen reads the events of a dashboard: their ids and data.
func (p *place) listen(after string) <-chan [2]string {
	p.Helper()
	req, err := http.NewRequestWithContext(p.Context(), http.MethodGet, p.url+"/precis/live", nil)
	if err != nil {
		p.Fatal(err)
	}
	if after != "" {
		req.Header.Set("Last-Event-ID", after)
	}
	res, err := p.client.Do(req)
	if err != nil || res.Header.Get("Content-Type") != "text/event-stream" {
		p.Fatalf("live: %v %v", res, err)
	}
	out := make(chan [2]string, 10)
	lines := bufio.NewScanner(res.Body)
	lines.Scan() // it listens now
	go func() {
		defer close(out)
		defer res.Body.Close()
		id := ""
		for lines.Scan() {
			if v, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
				id = v
			}
			if v, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				out <- [2]string{id, v}
			}
		}
	}()
	return out
}

func TestChangesAreLiveAndReplayed(t *testing.T) {
	p := serve(t, home(t, window, messages(10)), nil)
	events := p.listen("")
	p.submit(200, p.one+"/do/pin?handle=m1", p.one+"/do/pin", nil)
	first := <-events
	if first[0] != "1" || !strings.Contains(first[1], `"conversation":"`+p.ID()+`"`) || !strings.Contains(first[1], `"kind":"edits"`) {
		t.Errorf("the event is %v", first)
	}
	p.submit(200, p.one+"/do/pin?handle=m3", p.one+"/do/pin", nil)
	if missed := <-p.listen("1"); missed[0] != "2" {
		t.Errorf("who comes back after 1 gets %v", missed)
	}
}
