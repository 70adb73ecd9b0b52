package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/gateway/control"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/wire"
	"github.com/precis-dev/precis/wire/anthropic"
	"github.com/precis-dev/precis/wire/chat"
	"github.com/precis-dev/precis/wire/responses"
)

// engine is a gateway without upstreams.
func engine(t *testing.T, window int) string {
	t.Helper()
	settings, err := preset.Settings(preset.Balanced)
	if err != nil {
		t.Fatal(err)
	}
	m, err := preset.New(preset.Options{Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.New(gateway.Options{Local: true, Manager: m, Window: func(context.Context, string) precis.Window {
		return precis.Window{Tokens: window, Source: precis.SourceConfigured}
	}})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(control.New(control.Options{Gateway: g}))
	t.Cleanup(func() { s.Close(); _ = g.Close(context.Background()) })
	return s.URL + control.Prefix
}

// assembledView is what the engine answers.
type assembledView struct {
	Dialect, List string
	Messages      json.RawMessage
	Acted         bool
	After         int `json:"tokens_after"`
	Conversation  struct{ ID, Match string }
	Error         struct{ Code, Message string }
}

// TestWireAssembles asks the engine for the view of every request that real agents
// sent, as a conversation that is remembered: the dialect is guessed right, the view
// fits and is valid, and it begins with the view before it unless something was done.
func TestWireAssembles(t *testing.T) {
	dir := directory(t, "PRECIS_WIRE")
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl.gz"))
	if err != nil || len(files) == 0 {
		t.Fatal(err, "no recorded streams")
	}
	for i, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".jsonl.gz"), func(t *testing.T) {
			rows := wireRows(t, file, i)
			e := &engineRun{t: t, api: engine(t, 1_000_000), views: map[string][]string{}}
			for _, row := range rows {
				e.assemble(row)
			}
			if e.acts > 0 || e.over > 0 {
				t.Errorf("in a large window %d acts", e.acts)
			}
			small := &engineRun{t: t, window: e.largest * 2 / 3, views: map[string][]string{}}
			small.api = engine(t, small.window)
			for _, row := range rows {
				small.assemble(row)
			}
			t.Logf("%4d requests; in a window of %d: %4d with a view before them, %3d acts, %d too large whatever is cut", e.requests, small.window, small.stable, small.acts, small.over)
			if e.stable == 0 || small.acts == 0 {
				t.Errorf("%d views were compared, %d acts", e.stable, small.acts)
			}
		})
	}
}

type engineRun struct {
	t      *testing.T
	api    string
	window int                 // 0: any
	views  map[string][]string // the newest of each conversation

	requests, stable, acts, over, largest int
}

func (e *engineRun) assemble(row wireRow) {
	want, ok := engineDialect(row.Path)
	if !ok || row.messages() == nil {
		return
	}
	body := append([]byte(`{"conversation":"a recording",`), bytes.TrimLeft(row.Body, " \n{")...)
	v := e.post(body)
	switch {
	case v.Error.Code == string(precis.CodeOverBudget):
		e.over++ // its system prompt and last turn alone are more than the window
		return
	case v.Error.Code != "":
		e.t.Fatalf("%+v", v.Error)
	}
	e.requests++
	e.largest = max(e.largest, v.After)
	if v.Dialect != want.Name() || v.List != want.List() || e.window > 0 && v.After > e.window {
		e.t.Errorf("%s: taken for %s, %d tokens", row.Path, v.Dialect, v.After)
		return
	}
	if breaches := want.Check(e.decode(want, v.Messages)); len(breaches) > 0 && len(want.Check(e.decode(want, e.sent(row, want)))) == 0 {
		e.t.Errorf("%s: the view is not valid: %v", row.Path, breaches)
	}
	e.grows(v)
}

// grows compares a view with the one before it of the same conversation: what clients
// change themselves from request to request, such as where their cache breakpoints
// are, aside.
func (e *engineRun) grows(v assembledView) {
	var list []json.RawMessage
	if err := json.Unmarshal(v.Messages, &list); err != nil {
		e.t.Fatal(err)
	}
	now := make([]string, len(list))
	for i, raw := range list {
		now[i] = canonMessage(raw, false)
	}
	before, known := e.views[v.Conversation.ID]
	e.views[v.Conversation.ID] = now
	switch {
	case v.Acted:
		e.acts++
	case known && v.Conversation.Match == "extended":
		if e.stable++; len(now) < len(before) || !slices.Equal(now[:len(before)], before) {
			e.t.Errorf("nothing was done, and the view of %d messages does not begin with the %d before", len(now), len(before))
		}
	}
}

func (e *engineRun) post(body []byte) (v assembledView) {
	e.t.Helper()
	res, err := http.Post(e.api+"/assemble", "application/json", bytes.NewReader(body))
	if err != nil {
		e.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err == nil {
		err = json.Unmarshal(raw, &v)
	}
	if err != nil {
		e.t.Fatal(err)
	}
	return v
}

func (e *engineRun) sent(row wireRow, d wire.Dialect) json.RawMessage {
	b, err := wire.Parse(row.Body, d.List(), nil)
	if err != nil {
		e.t.Fatal(err)
	}
	return b.Get(d.List())
}

func (e *engineRun) decode(d wire.Dialect, list json.RawMessage) (msgs []precis.Message) {
	b, err := wire.Parse(fmt.Appendf(nil, `{"list":%s}`, list), "list", nil)
	if err != nil {
		e.t.Fatal(err)
	}
	for i := range b.Items() {
		m, err := d.Decode(b.Item(i))
		if err != nil {
			e.t.Fatal(err)
		}
		msgs = append(msgs, m)
	}
	return msgs
}

// engineDialect returns the dialect of a recorded path. Not ok: no turn.
func engineDialect(path string) (wire.Dialect, bool) {
	switch {
	case strings.Contains(path, "count_tokens"):
		return nil, false
	case strings.Contains(path, "/chat/completions"):
		return chat.Dialect{}, true
	case strings.Contains(path, "/responses"):
		return responses.Dialect{}, true
	case strings.Contains(path, "/messages"):
		return anthropic.Dialect{}, true
	}
	return nil, false
}
