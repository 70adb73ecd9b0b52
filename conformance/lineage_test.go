package conformance

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/preset"
)

// canonMessage is what of a recorded message counts for recognizing it, worked
// out here in another way than by the gateway: plain JSON without what clients
// change. Bare leaves out what tool results say.
func canonMessage(raw json.RawMessage, bare bool) string {
	var v map[string]any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	for _, volatile := range []string{"id", "status", "internal_chat_message_metadata_passthrough"} {
		delete(v, volatile)
	}
	if v["type"] == "message" {
		delete(v, "type")
	}
	if bare {
		if strings.HasSuffix(fmt.Sprint(v["type"]), "_output") {
			delete(v, "output")
		}
		if v["role"] == "tool" {
			delete(v, "content")
		}
	}
	canonValue(v, bare)
	out, _ := json.Marshal(v) // it came from JSON
	return string(out)
}

func canonValue(v any, bare bool) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range []string{"cache_control", "prompt_cache_breakpoint", "annotations", "logprobs"} {
			delete(v, name)
		}
		if s, ok := v["content"].(string); ok {
			v["content"] = []any{map[string]any{"type": "text", "text": s}}
		}
		if bare && v["type"] == "tool_result" {
			delete(v, "content")
		}
		for name, inner := range v {
			if inner == nil {
				delete(v, name)
				continue
			}
			canonValue(inner, bare)
		}
	case []any:
		for _, inner := range v {
			canonValue(inner, bare)
		}
	}
}

// turnOf is one recorded request as the test sees it.
type turnOf struct {
	file  string
	list  []string
	bones []string
	side  bool
	node  string // what the gateway called it
	conv  string
}

// chains returns the hash after each message, its system prompt left out.
func chains(list []json.RawMessage, bare bool) []string {
	var out []string
	var last [32]byte
	leading := true
	for _, raw := range list {
		var m struct{ Role string }
		_ = json.Unmarshal(raw, &m)
		leading = leading && (m.Role == "system" || m.Role == "developer")
		if leading {
			continue
		}
		last = sha256.Sum256(append(last[:], canonMessage(raw, bare)...))
		out = append(out, fmt.Sprintf("%x", last))
	}
	return out
}

func prefixOf(a, b []string) bool {
	return len(a) > 0 && len(a) <= len(b) && a[len(a)-1] == b[len(a)-1]
}

// TestWire replays every recorded stream of requests through one gateway,
// interleaved, and checks where it says that each belongs.
func TestWire(t *testing.T) {
	dir := directory(t, "PRECIS_WIRE")
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl.gz"))
	if err != nil || len(files) == 0 {
		t.Fatal(err, "no recorded streams")
	}
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{}`)
	}))
	defer upstream.Close()
	settings, err := preset.Settings(preset.Off)
	if err != nil {
		t.Fatal(err)
	}
	m, err := preset.New(preset.Options{Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	u, _ := url.Parse(upstream.URL)
	g, err := gateway.New(gateway.Options{Upstreams: []gateway.Upstream{{Name: "up", URL: u}}, Manager: m})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(g)
	defer s.Close()
	defer func() { _ = g.Close(t.Context()) }()

	var streams [][]wireRow
	for i, f := range files {
		streams = append(streams, wireRows(t, f, i))
	}
	c := census{}
	seen := map[string][]*turnOf{} // by file
	for i := 0; ; i++ {
		left := false
		for k, rows := range streams {
			if i < len(rows) {
				left = true
				c.replay(t, s.URL, filepath.Base(files[k]), rows[i], seen)
			}
		}
		if !left {
			break
		}
	}
	c.wrong(t, seen)
	t.Logf("%d requests: %d turns that continue an earlier one, %d of them found their exact parent, %d by their skeleton; %d first requests and branches, %d passed through; 0 wrong wanted, %d found",
		c.all, c.turns, c.exact, c.skeleton, c.first, c.side, c.mixed)
	if c.exact+c.skeleton != c.turns || c.mixed > 0 {
		t.Errorf("%d of %d turns found their parent, %d landed in another's conversation", c.exact+c.skeleton, c.turns, c.mixed)
	}
}

type census struct{ all, turns, exact, skeleton, first, side, mixed int }

func (c *census) replay(t *testing.T, base, file string, row wireRow, seen map[string][]*turnOf) {
	list := row.messages()
	if list == nil || strings.Contains(row.Path, "count_tokens") {
		return
	}
	c.all++
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+row.Path, bytes.NewReader(row.Body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	me := &turnOf{file: file, list: chains(list, false), bones: chains(list, true), node: res.Header.Get("X-Precis-Node"), conv: res.Header.Get("X-Precis-Conversation")}
	if me.side = res.Header.Get("X-Precis-Action") == "pass" || !slices.Contains([]string{"new", "extended", "repeated", "branched", "rewritten"}, res.Header.Get("X-Precis-Match")); me.side {
		c.side++
	}
	parent := res.Header.Get("X-Precis-Parent")
	want, byBones := parentIn(seen[file], me)
	seen[file] = append(seen[file], me)
	switch {
	case me.side:
	case want == nil, len(want.list) == len(me.list) && !answeredIn(list):
		c.first++ // it may begin with the same words as another
	case parent != want.node:
		c.turns++
		t.Errorf("%s: request %d says that it continues %.12q, want %.12q (%s)", file, row.N, parent, want.node, res.Header.Get("X-Precis-Match"))
	case byBones:
		c.turns++
		c.skeleton++
	default:
		c.turns++
		c.exact++
	}
}

// answeredIn reports whether a model has said something.
func answeredIn(list []json.RawMessage) bool {
	return slices.ContainsFunc(list, func(raw json.RawMessage) bool {
		var m struct{ Role, Type string }
		_ = json.Unmarshal(raw, &m)
		return m.Role == "assistant" || strings.HasSuffix(m.Type, "_call")
	})
}

// parentIn returns the earlier request that has most in common with one, all of
// which it continues.
func parentIn(earlier []*turnOf, me *turnOf) (best *turnOf, byBones bool) {
	for _, e := range earlier {
		if !e.side && prefixOf(e.list, me.list) && (best == nil || len(e.list) >= len(best.list)) {
			best = e
		}
	}
	for _, e := range earlier {
		if !e.side && prefixOf(e.bones, me.bones) && (best == nil || len(e.list) > len(best.list)) {
			best, byBones = e, true
		}
	}
	return best, byBones
}

// wrong counts the conversations that two streams were put into although they
// share no answer of a model.
func (c *census) wrong(t *testing.T, seen map[string][]*turnOf) {
	owner := map[string]string{}
	for file, turns := range seen {
		for _, me := range turns {
			if me.side || len(me.list) < 3 {
				continue
			}
			if o := owner[me.conv]; o != "" && o != file {
				c.mixed++
				t.Errorf("%s and %s share the conversation %s", file, o, me.conv)
			}
			owner[me.conv] = file
		}
	}
}

// wireRow is one recorded request.
type wireRow struct {
	N    int             `json:"n"`
	Path string          `json:"path"`
	Body json.RawMessage `json:"body"`
}

// callID finds the IDs of calls, which count up in every recording; real ones
// are unique.
var callID = regexp.MustCompile(`"(toolu|call)_[0-9]{4}_[0-9]+"`)

func wireRows(t *testing.T, file string, number int) (rows []wireRow) {
	t.Helper()
	own := fmt.Sprintf("_stream%d\"", number)
	lines := bufio.NewScanner(bytes.NewReader(content(t, file)))
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var r wireRow
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		r.Body = callID.ReplaceAllFunc(r.Body, func(id []byte) []byte { return append(id[:len(id)-1:len(id)-1], own...) })
		rows = append(rows, r)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}

func (r wireRow) messages() []json.RawMessage {
	var b struct{ Messages, Input []json.RawMessage }
	if json.Unmarshal(r.Body, &b) != nil {
		return nil
	}
	if b.Messages == nil {
		return b.Input
	}
	return b.Messages
}
