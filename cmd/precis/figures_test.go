package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"math"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/console"
	"github.com/precis-dev/precis/cmd/internal/service"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/find"
	"github.com/precis-dev/precis/conversation/ledger"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/internal/sample"
	"github.com/precis-dev/precis/internal/texts"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/provider/providertest"
)

// sheet holds the numbers shown for one conversation, by name; nil: shown as unknown.
type sheet map[string]*float64

func (s sheet) set(name string, n float64) { s[name] = &n }
func (s sheet) int(name string, n int)     { s.set(name, float64(n)) }
func (s sheet) known(name string, n *int) {
	if s[name] = nil; n != nil {
		s.int(name, *n)
	}
}

// word is what the searches of the test look for.
const word = "the"

// pageHits is how many hits a page shows.
const pageHits = 100

// verbs asks the verbs of a home: what they say is what every face must say.
func verbs(t *testing.T, h conversation.Home, id string) sheet {
	t.Helper()
	ctx, s := t.Context(), sheet{}
	d := got(conversation.Status(ctx, h, id))(t)
	for name, n := range map[string]int{
		"tokens": d.Status.Tokens, "window": d.Status.Window, "messages": d.Status.Messages, "shown": d.Status.Shown, "condensations": d.Status.Condensations,
		"limit": d.Room.Limit, "left": d.Room.Left, "inforce": d.Edits.InForce, "edits": d.Edits.Total, "saved": d.Edits.Saved, "unknown": d.Edits.UnknownSavings,
	} {
		s.int(name, n)
	}
	s.set("percent", d.Status.Percent)
	s.set("near:"+d.ID, d.Status.Percent)
	s.set("editcost", d.Edits.CostUSD)
	c := got(conversation.CompositionOf(ctx, h, id))(t)
	s.int("free", c.Free)
	s.int("reserved", c.Reserved)
	s.int("threshold", c.Threshold)
	sum := 0
	for _, k := range c.Kinds {
		s.int(kindName(k.Kind), k.Tokens)
		sum += k.Tokens
	}
	if sum != d.Status.Tokens || c.Used != d.Status.Tokens {
		t.Errorf("%s: the kinds add up to %d, %d are used, the status says %d", id, sum, c.Used, d.Status.Tokens)
	}
	if all := c.Used + c.Free + c.Reserved; c.Used <= c.Window.Tokens && all != c.Window.Tokens {
		t.Errorf("%s: used, free and reserved are %d of %d", id, all, c.Window.Tokens)
	}
	said, points := got(c.Unreduced(ctx, h, id))(t).Total, got(conversation.SizeHistory(ctx, h, id, 400))(t).Points
	if last := points[len(points)-1].Unreduced; said < last-1 || said > last+1 { // both are scaled, each by itself
		t.Errorf("%s: the kinds of what was said add up to %d, the history says %d", id, said, last)
	}
	lost := got(conversation.Loss(ctx, h, id))(t)
	r := lost.Retention
	for name, n := range map[string]int{"kept": r.Kept, "facts": r.Anchors, "typed": r.Typed, "typedkept": r.TypedKept, "hidden": lost.Hidden, "shortened": lost.Shortened,
		"factslost": lost.Facts, "ruleslost": lost.Rules, "listed": len(r.Lost)} {
		s.int(name, n)
	}
	if lost.Facts != r.Anchors-r.Kept || d.Status.Shown != lost.Messages-lost.Hidden {
		t.Errorf("%s: %d facts lost of %d with %d kept; %d messages shown, %d of %d hidden", id, lost.Facts, r.Anchors, r.Kept, d.Status.Shown, lost.Hidden, lost.Messages)
	}
	facts, rules := 0, 0
	for q := (conversation.UnitQuery{Limit: 500}); ; {
		list := got(conversation.Units(ctx, h, id, q))(t)
		for _, u := range list.Items {
			s.int(fmt.Sprintf("fold:%s:before", u.Handle), u.Before)
			s.int(fmt.Sprintf("fold:%s:after", u.Handle), u.After)
			f, n := lost.Under(u.Handle)
			s.int("lost:"+u.Handle.String(), f)
			s.int("ruleslost:"+u.Handle.String(), n)
			facts, rules = facts+f, rules+n
		}
		if q.From = list.Next; list.Next == 0 {
			break
		}
	}
	if facts != lost.Facts || rules != lost.Rules {
		t.Errorf("%s: %d facts and %d rules are lost, %d and %d by the pieces of the view", id, lost.Facts, lost.Rules, facts, rules)
	}
	for _, e := range got(conversation.Edits(ctx, h, id))(t).Items {
		s.known("edit:"+e.Name+":before", e.Before())
		s.known("edit:"+e.Name+":after", e.After())
		s.known("edit:"+e.Name+":saved", e.Report.KnownSaving())
	}
	for _, m := range got(conversation.SizeHistory(ctx, h, id, 400))(t).Marks {
		s.int(fmt.Sprintf("mark:%d:before", m.Messages), m.Before)
		s.int(fmt.Sprintf("mark:%d:after", m.Messages), m.After)
	}
	s.int("at", d.Status.Messages)
	found := got(conversation.Search(ctx, h, conversation.SearchOptions{Text: word, Limit: pageHits}))(t)
	s.int("found", found.Total)
	s.int("found.shown", len(found.Items))
	places, err := find.In(ctx, h, id, got(find.NewQuery([]string{word}, false))(t))
	if err != nil && precis.CodeOf(err) != precis.CodeNotFound {
		t.Fatal(err)
	}
	s.int("places", len(places))
	s.verified(t, h, id)
	sums := got(ledger.Since(ctx, h, id, time.Time{}))(t).Total
	s.int("requests", sums.Requests)
	s.int("notsent", sums.Saved)
	s.int("said", sums.Sent+sums.Saved)
	s.int("cacheread", sums.Usage.CacheRead)
	s.set("notsentshare", precis.Window{Tokens: sums.Sent + sums.Saved}.Percent(sums.Saved))
	s.set("cost", sums.CostUSD)
	s.set("condensing", sums.Condensing)
	return s
}

// posted is the summary that every face is given to verify.
const posted = "The agent wrote the files, and the tests pass. It stops with ERR_NO_DATABASE in production. Port 8443 is open."

// verified adds what the verb says of the view now, of the client's own compaction where there is one, and of
// a summary.
func (s sheet) verified(t *testing.T, h conversation.Home, id string) {
	t.Helper()
	for mode, o := range map[string]conversation.VerifyOptions{"now": {CurrentView: true}, "own": {}, "text": {Summary: posted}} {
		v, err := conversation.Verify(t.Context(), h, id, o)
		if mode == "own" && precis.CodeOf(err) == precis.CodeNotFound {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		set := func(name string, n int) { s.int(mode+"."+name, n) }
		for name, n := range map[string]int{"verified": v.Messages, "lacks": len(v.Lacks), "contradicts": len(v.Contradicts), "invents": len(v.Invents)} {
			set(name, n)
		}
		for _, k := range v.Kinds {
			set("holds:"+k.Kind, k.Holds)
			set("of:"+k.Kind, k.Of)
			n := 0
			for _, l := range v.Lacks {
				if l.Kind == k.Kind {
					n++
				}
			}
			set("lacks:"+k.Kind, n)
			set("lacks.listed:"+k.Kind, min(n, 30)) // as many as a page shows
		}
		set("contradicts.listed", min(len(v.Contradicts), 60))
		set("invents.listed", min(len(v.Invents), 60))
	}
}

// verified compares what a face says of one way to verify. Counted: the face counts its lists, because it
// gives only the first of each.
func (r *reader) verified(face, mode string, a said, counted bool) {
	r.Helper()
	for name, in := range map[string]string{"lacks": "lacking", "contradicts": "contradicted", "invents": "invented"} {
		n := float64(len(a.list(name)))
		if counted {
			r.is(face, mode+"."+name, a.number(in))
		} else {
			r.is(face, mode+"."+name, &n)
		}
	}
	r.all(face, a, mode+".verified", "messages")
	kinds := 0
	for name := range r.want {
		if strings.HasPrefix(name, mode+".of:") {
			kinds++
		}
	}
	if len(a.list("kinds")) != kinds {
		r.differ("%s: %d kinds, want %d", face, len(a.list("kinds")), kinds)
	}
	for _, k := range a.list("kinds") {
		r.is(face, mode+".holds:"+k.text("kind"), k.number("holds"))
		r.is(face, mode+".of:"+k.text("kind"), k.number("of"))
	}
}

// modes are the ways to verify for which the verb has numbers.
func (r *reader) modes() []string {
	if r.want["own.verified"] != nil {
		return []string{"own", "now"}
	}
	return []string{"now"}
}

// also maps a page's names for the numbers of one way to verify to the verb's.
func (r *reader) also(mode string) map[string]string {
	out := map[string]string{}
	for name := range r.want {
		if short, ok := strings.CutPrefix(name, mode+"."); ok {
			out[short] = name
		}
	}
	return out
}

// got returns a value, and fails the test for an error.
func got[V any](v V, err error) func(*testing.T) V {
	return func(t *testing.T) V {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// reader compares what faces say with what the verbs say.
type reader struct {
	*testing.T
	want  sheet
	about string
	read  int // numbers
	wrong int
}

// is compares one number of a face.
func (r *reader) is(face, name string, n *float64) {
	r.Helper()
	want, named := r.want[name]
	r.read++
	switch {
	case !named:
		r.differ("%s: nobody else knows %s", face, name)
	case (n == nil) != (want == nil):
		r.differ("%s: %s is %v, want %v", face, name, written(n), written(want))
	case n != nil && math.Abs(*n-*want) > 1e-9:
		r.differ("%s: %s is %v, want %v", face, name, *n, *want)
	}
}

func (r *reader) differ(format string, args ...any) {
	r.Helper()
	r.wrong++
	r.Errorf("%s: "+format, append([]any{r.about}, args...)...)
}

func written(n *float64) string {
	if n == nil {
		return texts.Unknown
	}
	return fmt.Sprint(*n)
}

// said is a JSON answer.
type said struct{ v any }

func parsed(t *testing.T, data []byte) said {
	t.Helper()
	var a said
	if err := json.Unmarshal(data, &a.v); err != nil {
		t.Fatalf("%v: %.300s", err, data)
	}
	return a
}

// at returns a member by its path, such as "status.tokens"; nil where it is missing.
func (a said) at(path string) any {
	v := a.v
	for part := range strings.SplitSeq(path, ".") {
		o, _ := v.(map[string]any)
		v = o[part]
	}
	return v
}

// number returns a number; nil where it is missing.
func (a said) number(path string) *float64 {
	if n, ok := a.at(path).(float64); ok {
		return &n
	}
	return nil
}

// list returns the members of a list.
func (a said) list(path string) (out []said) {
	all, _ := a.at(path).([]any)
	for _, v := range all {
		out = append(out, said{v})
	}
	return out
}

func (a said) text(path string) string { return fmt.Sprint(a.at(path)) }

// all compares members of an answer: pairs of a name and a path.
func (r *reader) all(face string, a said, pairs ...string) {
	r.Helper()
	for i := 0; i+1 < len(pairs); i += 2 {
		r.is(face, pairs[i], a.number(pairs[i+1]))
	}
}

// kinds compares the tokens by kind; none may be missing.
func (r *reader) kinds(face string, list []said, name string) {
	r.Helper()
	for _, k := range list {
		r.is(face, kindName(k.text(name)), k.number("tokens"))
	}
	n := 0
	for name := range r.want {
		if strings.HasPrefix(name, "kind:") {
			n++
		}
	}
	if len(list) != n {
		r.differ("%s: %d kinds, want %d", face, len(list), n)
	}
}

// kindName is the name of the tokens of a kind of content.
func kindName(kind string) string { return "kind:k-" + strings.ReplaceAll(kind, " ", "-") }

// lost compares what an answer says is lost.
func (r *reader) lost(face string, a said) {
	r.Helper()
	r.all(face, a, "kept", "retention.kept", "facts", "retention.anchors", "typed", "retention.typed", "typedkept", "retention.typed_kept", "hidden", "hidden", "shortened", "shortened", "messages", "messages",
		"factslost", "facts_lost", "ruleslost", "rules_lost")
	listed, rules := float64(len(a.list("retention.lost"))), float64(len(a.list("retention.rules_lost")))
	r.is(face, "listed", &listed)
	r.is(face, "ruleslost", &rules)
}

// api reads the HTTP API of a gateway.
func (r *reader) api(base, id string) {
	r.Helper()
	get := func(path string) said {
		res := got(http.Get(base + "/precis/api/v1/" + path))(r.T)
		defer res.Body.Close()
		data := got(io.ReadAll(res.Body))(r.T)
		if res.StatusCode != http.StatusOK {
			r.Fatalf("%s: %d %s", path, res.StatusCode, data)
		}
		return parsed(r.T, data)
	}
	one := "conversations/" + id
	r.all("API status", get(one), "tokens", "status.tokens", "window", "status.window", "percent", "status.percent", "messages", "status.messages", "shown", "status.shown",
		"condensations", "status.condensations", "limit", "room.limit", "left", "room.left", "inforce", "edits.in_force", "edits", "edits.total", "saved", "edits.tokens_saved",
		"editcost", "edits.cost_usd", "tokens", "tokens", "percent", "percent", "window", "context_window.tokens")
	c := get(one + "/composition")
	r.all("API composition", c, "tokens", "used", "percent", "share", "window", "window.tokens", "free", "free", "reserved", "reserved", "threshold", "threshold")
	r.kinds("API composition", c.list("kinds"), "kind")
	r.lost("API loss", get(one+"/loss"))
	for _, mode := range r.modes() {
		r.verified("API verify", mode, get(one+"/verify"+map[string]string{"now": "?view=now"}[mode]), false)
	}
	r.verified("API verify", "text", r.postSummary(base+"/precis/api/v1/"+one+"/verify"), false)
	r.all("API view", get(one+"/view"), "tokens", "status.tokens", "percent", "status.percent", "shown", "status.shown")
	for _, e := range get(one + "/edits").list("items") {
		r.edit("API edits", e, "report.")
	}
	n := 0
	for _, l := range get("conversations").list("items") {
		if l.text("id") == id {
			n++
			r.all("API list", l, "tokens", "tokens", "window", "window", "percent", "percent", "messages", "messages")
		}
	}
	if n != 1 {
		r.differ("API list: it is there %d times", n)
	}
	found := get("search?limit=100&q=" + word)
	shown := float64(len(found.list("items")))
	r.all("API search", found, "found", "total")
	r.is("API search", "found.shown", &shown)
	r.all("API ledger", get("ledger?conversation="+id), "requests", "total.requests", "notsent", "total.tokens_saved", "cost", "total.cost_usd", "condensing", "total.condensing_cost_usd")
}

// postSummary posts the summary to the API of a gateway.
func (r *reader) postSummary(address string) said {
	r.Helper()
	body := got(json.Marshal(map[string]string{"summary": posted}))(r.T)
	res := got(http.Post(address, "application/json", bytes.NewReader(body)))(r.T)
	defer res.Body.Close()
	data := got(io.ReadAll(res.Body))(r.T)
	if res.StatusCode != http.StatusOK {
		r.Fatalf("verify: %d %s", res.StatusCode, data)
	}
	return parsed(r.T, data)
}

// edit compares the tokens of an edit; unknown ones must be missing.
func (r *reader) edit(face string, e said, in string) {
	r.Helper()
	name := e.text("name")
	r.is(face, "edit:"+name+":before", e.number(in+"tokens_before"))
	r.is(face, "edit:"+name+":after", e.number(in+"tokens_after"))
}

// tools reads the tools of an MCP server.
func (r *reader) tools(cs *mcp.ClientSession, id string) {
	r.Helper()
	call := func(name string, in map[string]any) said {
		res := got(cs.CallTool(r.Context(), &mcp.CallToolParams{Name: name, Arguments: in}))(r.T)
		if res.IsError {
			r.Fatalf("%s: %v", name, res.Content[0].(*mcp.TextContent).Text)
		}
		return parsed(r.T, got(json.Marshal(res.StructuredContent))(r.T))
	}
	st := call("status", map[string]any{"id": id})
	r.all("MCP status", st, "tokens", "status.tokens", "window", "status.window", "percent", "status.percent", "messages", "status.messages", "shown", "status.shown",
		"condensations", "status.condensations", "limit", "room.limit", "left", "room.left", "inforce", "edits_in_force", "edits", "edits_made", "free", "free", "reserved", "reserved")
	r.kinds("MCP status", st.list("composition"), "kind")
	made := int(*r.want["edits"])
	list := st.list("edits")
	for i, e := range list {
		name := conversation.EditName(made - len(list) + i)
		r.is("MCP edits", "edit:"+name+":before", e.number("tokens_before"))
		r.is("MCP edits", "edit:"+name+":after", e.number("tokens_after"))
		r.is("MCP edits", "edit:"+name+":saved", e.number("tokens_saved"))
	}
	for _, mode := range r.modes() {
		r.verified("MCP verify", mode, call("verify", map[string]any{"id": id, "view": mode == "now"}), true)
	}
	r.verified("MCP verify", "text", call("verify", map[string]any{"id": id, "summary": posted}), true)
	for _, l := range call("sessions", map[string]any{"limit": 50}).list("sessions") {
		if l.text("id") == id {
			r.all("MCP sessions", l, "tokens", "tokens", "percent", "percent", "messages", "messages")
		}
	}
	all := call("search", map[string]any{"query": word, "limit": pageHits})
	shown := float64(len(all.list("hits")))
	r.all("MCP search", all, "found", "found")
	r.is("MCP search", "found.shown", &shown)
	r.all("MCP search", call("search", map[string]any{"query": word, "limit": 3, "id": id}), "places", "found")
}

// browser reads pages.
type browser struct {
	*http.Client
	base string
}

func newBrowser(t *testing.T, address string) browser {
	t.Helper()
	b := browser{Client: &http.Client{Jar: got(cookiejar.New(nil))(t)}}
	b.base, _, _ = strings.Cut(address, "?")
	got(b.Get(address))(t).Body.Close()
	return b
}

// marks are the places of a page that hold numbers: pairs of names and text.
func (b browser) marks(t *testing.T, lang, path string) (out [][2]string) {
	t.Helper()
	req := got(http.NewRequestWithContext(t.Context(), http.MethodGet, b.base+path, nil))(t)
	req.Header.Set("Accept-Language", lang)
	res := got(b.Do(req))(t)
	defer res.Body.Close()
	page := string(got(io.ReadAll(res.Body))(t))
	if res.StatusCode != http.StatusOK || !strings.Contains(path, "part=1") && !strings.Contains(page, `lang="`+lang+`"`) {
		t.Fatalf("%s in %s: %d: %.300s", path, lang, res.StatusCode, page)
	}
	for _, at := range mark.FindAllStringSubmatchIndex(page, -1) {
		tag, names, rest := page[at[2]:at[3]], page[at[4]:at[5]], page[at[1]:]
		text, _, ok := strings.Cut(rest, "</"+tag+">")
		if !ok {
			t.Fatalf("%s: %s is not closed", path, names)
		}
		out = append(out, [2]string{html.UnescapeString(names), html.UnescapeString(inner.ReplaceAllString(text, ""))})
	}
	return out
}

var (
	mark  = regexp.MustCompile(`<([a-z0-9]+)(?: [^<>]*)? data-fig="([^"]*)"[^<>]*>`)
	inner = regexp.MustCompile(`<[^>]*>`)
)

// pair are marks that hold two numbers.
var pair = map[string][]string{"edit": {"before", "after"}, "fold": {"before", "after"}}

// shownAs writes a number as a page does.
func shownAs(lang, name string, n *float64) string {
	short := strings.HasSuffix(name, ".short")
	kind, _, _ := strings.Cut(strings.TrimSuffix(name, ".short"), ":")
	switch {
	case n == nil:
		return texts.Unknown
	case short:
		return texts.Short(lang, int(*n))
	case slices.Contains([]string{"percent", "near", "notsentshare"}, kind):
		return texts.Percent(lang, *n)
	case slices.Contains([]string{"cost", "condensing", "editcost"}, kind):
		return texts.Dollars(lang, *n)
	}
	return texts.Number(lang, int(*n))
}

// digits matches the digits of a formatted number.
var digits = regexp.MustCompile(`[0-9?]`)

// page compares the numbers of a page, and returns their names. Also are names that the
// verbs do not have under the same name.
func (r *reader) page(b browser, lang, path string, also map[string]string) map[string]bool {
	r.Helper()
	seen := map[string]bool{}
	for _, m := range b.marks(r.T, lang, path) {
		text := m[1]
		for name := range strings.FieldsSeq(m[0]) {
			names := []string{name}
			if kind, _, _ := strings.Cut(name, ":"); pair[kind] != nil {
				names = nil
				for _, part := range pair[kind] {
					names = append(names, name+":"+part)
				}
			}
			for _, name := range names {
				seen[name] = true
				known := strings.TrimSuffix(name, ".short")
				if other, ok := also[known]; ok {
					known = other
				}
				want, named := r.want[known]
				if !named {
					if strings.HasPrefix(name, "near:") {
						text = "" // another conversation
						continue
					}
					r.differ("page %s: nobody else knows %s", path, name)
					continue
				}
				r.read++
				as := shownAs(lang, name, want)
				if !strings.Contains(text, as) {
					r.differ("page %s in %s: %s is %q, want %s", path, lang, m[0], m[1], as)
				}
				text = strings.Replace(text, as, "", 1)
			}
		}
		if digits.MatchString(text) {
			r.differ("page %s in %s: %s is %q: %q is too much", path, lang, m[0], m[1], text)
		}
	}
	return seen
}

// wants fails the test for a page that does not say a number.
func (r *reader) wants(path string, seen map[string]bool, names ...string) {
	r.Helper()
	for _, n := range names {
		if !seen[n] {
			r.differ("page %s does not say %s", path, n)
		}
	}
}

// pages reads the pages of a conversation, the list that it is in, and the search.
func (r *reader) pages(b browser, id string, booked bool) {
	r.Helper()
	one := "c/" + url.PathEscape(id)
	for _, lang := range texts.Languages() {
		head := []string{"tokens", "window", "percent", "messages", "free", "reserved"}
		for name := range r.want {
			if strings.HasPrefix(name, "kind:") {
				head = append(head, name)
			}
		}
		if *r.want["threshold"] > 0 {
			head = append(head, "threshold")
		}
		if booked {
			head = append(head, "requests", "cost", "notsent", "condensing")
		}
		if *r.want["edits"] > 0 {
			head = append(head, "inforce", "edits")
		}
		for _, path := range []string{"", "/edits", "/loss", "/work", "/time", "/head?part=1"} {
			seen := r.page(b, lang, one+path, nil)
			r.wants(path, seen, head...)
			if path == "/loss" {
				r.wants(path, seen, "typedkept", "typed", "kept", "facts", "hidden", "shortened", "factslost")
			}
			if path == "/edits" {
				for name, n := range r.want {
					if strings.HasPrefix(name, "edit:") && !strings.HasSuffix(name, ":saved") && n != nil {
						r.wants(path, seen, name)
					}
				}
			}
		}
		for _, mode := range r.modes() {
			path := "/verify" + map[string]string{"now": "?view=now"}[mode]
			r.wants(path, r.page(b, lang, one+path, r.also(mode)), append(r.verifiedOnPage(mode), head...)...)
		}
		for at := 0; at >= 0; { // every page of a long view
			path := fmt.Sprintf("%s?from=%d", one, at)
			r.page(b, lang, path, nil)
			if at = r.after(b, at, one); lang != "en" && at > 0 {
				break
			}
		}
		r.wants("row", r.page(b, lang, one+"/row?part=1", nil), "percent", "tokens.short", "window.short", "messages")
		if seen := r.page(b, lang, "search?q="+word, map[string]string{"shown": "found.shown"}); !seen["found"] {
			r.differ("the search does not say how many are found")
		}
		if booked {
			r.wants("costs", r.page(b, lang, "costs", nil), "requests", "cost", "condensing", "notsent", "cacheread.short")
		}
	}
}

// verifiedOnPage names the numbers of one way to verify that a page says.
func (r *reader) verifiedOnPage(mode string) []string {
	out := []string{"verified", "lacks"}
	for _, name := range []string{"contradicts", "invents"} {
		if *r.want[mode+"."+name] > 0 {
			out = append(out, name)
		}
	}
	for name, n := range r.want {
		if kind, ok := strings.CutPrefix(name, mode+".of:"); ok {
			out = append(out, "holds:"+kind, "of:"+kind)
			if *n > *r.want[mode+".holds:"+kind] {
				out = append(out, "lacks:"+kind)
			}
		}
	}
	return out
}

var nextPage = regexp.MustCompile(`rel="next"[^>]* href="[^"]*[?&;]from=(\d+)`)

// after returns where the page of a view after the one at a message begins; -1: it is the last.
func (r *reader) after(b browser, at int, one string) int {
	res := got(b.Get(fmt.Sprintf("%s%s?from=%d", b.base, one, at)))(r.T)
	defer res.Body.Close()
	m := nextPage.FindSubmatch(got(io.ReadAll(res.Body))(r.T))
	if m == nil {
		return -1
	}
	return got(strconv.Atoi(string(m[1])))(r.T)
}

// overview compares the list of conversations: its row before the script has asked for more.
func (r *reader) overview(b browser, id string) {
	r.Helper()
	res := got(b.Get(b.base))(r.T)
	defer res.Body.Close()
	page := string(got(io.ReadAll(res.Body))(r.T))
	_, row, ok := strings.Cut(page, `data-id="`+html.EscapeString(id)+`"`)
	row, _, closed := strings.Cut(html.UnescapeString(row), "</li>")
	if !ok || !closed {
		r.differ("the list has no row of it")
		return
	}
	for _, name := range []string{"percent", "tokens.short", "window.short", "messages"} {
		r.read++
		if as := shownAs("en", name, r.want[strings.TrimSuffix(name, ".short")]); !strings.Contains(row, as) {
			r.differ("the list does not say %s is %s: %s", name, as, inner.ReplaceAllString(row, " "))
		}
	}
}

// program runs a command and returns what it prints.
func program(t *testing.T, args ...string) []byte {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(t.Context(), args, console.Streams{In: strings.NewReader(""), Out: &out, Errs: &errs}); code != 0 {
		t.Fatalf("precis %s: %d: %s", strings.Join(args, " "), code, errs.String())
	}
	return out.Bytes()
}

// judged runs a command that may exit with 1, which is a verdict, and returns what it prints.
func judged(t *testing.T, in string, args ...string) []byte {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(t.Context(), args, console.Streams{In: strings.NewReader(in), Out: &out, Errs: &errs}); code > 1 {
		t.Fatalf("precis %s: %d: %s", strings.Join(args, " "), code, errs.String())
	}
	return out.Bytes()
}

// servingGateway starts a command that serves, and returns the first line it prints to the stream;
// stop ends it.
func servingGateway(t *testing.T, toErrs bool, args ...string) (line string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	in, out := io.Pipe()
	streams := console.Streams{In: strings.NewReader(""), Out: out, Errs: io.Discard}
	if toErrs {
		streams.Out, streams.Errs = io.Discard, out
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer out.Close()
		run(ctx, args, streams)
	}()
	lines := bufio.NewReader(in)
	line, err := lines.ReadString('\n')
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line), stop
}

// agent connects a client with an MCP server over the streams of a command.
func agent(t *testing.T, args ...string) *mcp.ClientSession {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer fromServer.Close()
		run(ctx, append([]string{"mcp"}, args...), console.Streams{In: toServer, Out: fromServer, Errs: io.Discard})
	}()
	cs := got(mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}}).
		Connect(context.WithoutCancel(t.Context()), &mcp.IOTransport{Reader: toClient, Writer: fromClient}, nil))(t)
	t.Cleanup(func() {
		_ = cs.Close()
		cancel()
		_ = fromClient.Close()
		<-done
	})
	return cs
}

// verbsOf asks the verbs of a recording.
func verbsOf(t *testing.T, path string) sheet {
	t.Helper()
	tools := newCommandLine(console.Streams{In: strings.NewReader(""), Out: io.Discard, Errs: io.Discard})
	defer tools.Close()
	defer tools.Jobs.Close()
	j := got(tools.Jobs.Open(t.Context(), path))(t)
	return verbs(t, j.Home, j.Home.ID())
}

// figuresOf reads every face of a recording.
func figuresOf(t *testing.T, path string) (read, wrong int) {
	t.Helper()
	tools := newCommandLine(console.Streams{In: strings.NewReader(""), Out: io.Discard, Errs: io.Discard})
	defer tools.Close()
	defer tools.Jobs.Close()
	j, err := tools.Jobs.Open(t.Context(), path)
	if err != nil {
		t.Logf("%s is left out: %v", filepath.Base(path), err)
		return 0, 0
	}
	id := j.Home.ID()
	r := &reader{T: t, about: filepath.Base(path), want: verbs(t, j.Home, id)}
	v := parsed(t, program(t, "-q", "inspect", "--json", path))
	r.all("inspect", v, "tokens", "status.tokens", "window", "status.window", "percent", "status.percent", "messages", "status.messages", "shown", "status.shown",
		"condensations", "status.condensations", "window", "window.tokens", "tokens", "composition.used", "percent", "composition.share", "free", "composition.free",
		"reserved", "composition.reserved", "threshold", "composition.threshold", "threshold", "decision.acts_at", "tokens", "view.tokens")
	r.kinds("inspect", v.list("composition.kinds"), "kind")
	r.kinds("inspect", v.list("view.kinds"), "name")
	if v.at("loss") != nil {
		r.lost("inspect", said{v.at("loss")})
	} else if *r.want["inforce"] > 0 {
		r.differ("inspect does not say what is lost")
	}
	for _, e := range v.list("edits") {
		r.edit("inspect", e, "")
	}
	for _, mode := range r.modes() {
		args := []string{"-q", "verify", "--json", path}
		if mode == "now" {
			args = append(args, "--now")
		}
		r.verified("verify", mode, parsed(t, judged(t, "", args...)), false)
	}
	r.verified("verify", "text", parsed(t, judged(t, posted, "-q", "verify", "--json", "--summary", "-", path)), false)
	if *r.want["places"] > 0 {
		r.all("search", parsed(t, program(t, "-q", "search", "--json", "--limit", "3", path, word)), "places", "total")
	}
	address, stop := servingGateway(t, false, "-q", "ui", path)
	b := newBrowser(t, address)
	cs := agent(t, "-q", path)
	r.previews(b, cs, j.Home, path)
	r.pages(b, id, false)
	r.overview(b, id)
	stop()
	r.tools(cs, id)
	return r.read, r.wrong
}

// previews compares what condensing would come to.
func (r *reader) previews(b browser, cs *mcp.ClientSession, h conversation.Home, path string) {
	r.Helper()
	id := got(conversation.List(r.Context(), h, conversation.ListQuery{}))(r.T).Items[0].ID
	would, err := conversation.Preview(r.Context(), h, id, conversation.CondenseOptions{Share: 0.1})
	if precis.CodeOf(err) == precis.CodeOverBudget {
		return // it does not fit, whatever is cut
	} else if err != nil {
		r.Fatal(err)
	}
	r.want.int("before", would.Report.Before.Tokens)
	r.want.int("after", would.Report.After.Tokens)
	r.want.int("target", would.Report.Decision.Target)
	if would.Report.Before.Tokens != int(*r.want["tokens"]) {
		r.differ("a preview begins with %d tokens, the view has %v", would.Report.Before.Tokens, *r.want["tokens"])
	}
	r.all("condense --dry-run", parsed(r.T, program(r.T, "-q", "condense", "--dry-run", "--json", "--target", "10%", path)),
		"before", "report.before.tokens", "after", "report.after.tokens", "target", "report.decision.target")
	res := got(cs.CallTool(r.Context(), &mcp.CallToolParams{Name: "condense", Arguments: map[string]any{"id": id, "target": "10%"}}))(r.T)
	r.all("MCP condense", parsed(r.T, got(json.Marshal(res.StructuredContent))(r.T)), "before", "tokens_before", "after", "tokens_after")
	for _, lang := range texts.Languages() {
		seen := map[string]bool{}
		for _, m := range b.marks(r.T, lang, "c/"+url.PathEscape(id)+"/condense?target=10%25") {
			for name := range strings.FieldsSeq(m[0]) {
				if !slices.Contains([]string{"before", "after", "target"}, name) {
					continue
				}
				seen[name] = true
				r.read++
				if as := shownAs(lang, name, r.want[name]); !strings.Contains(m[1], as) {
					r.differ("the form says %s is %q, want %s", name, m[1], as)
				}
			}
		}
		r.wants("condense", seen, "before", "after", "target")
	}
}

// ownHome gives the test a home folder of its own.
func ownHome(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"} {
		t.Setenv(name, dir)
	}
}

// TestFiguresOfRecordings: the command line, the pages in every language and the MCP server give
// the numbers of the verbs, of a sample of the recordings as they are and after they were condensed.
func TestFiguresOfRecordings(t *testing.T) {
	if testing.Short() {
		t.Skip("one command after the other")
	}
	ownHome(t)
	paths := got(filepath.Glob(filepath.Join("..", "..", "examples", "*.jsonl")))(t)
	for i, path := range paths {
		paths[i] = got(filepath.Abs(path))(t)
	}
	if len(paths) == 0 {
		t.Fatal("there is no recording")
	}
	paths = append(paths, compactedElsewhere(t))
	if s := verbsOf(t, paths[len(paths)-1]); *s["factslost"] <= policy.MaxLost || *s["found"] <= pageHits || s["edit:e1:before"] == nil || s["edit:e1:after"] != nil || *s["ruleslost"] == 0 || *s["own.lacks:files"] <= 30 {
		t.Fatal("the recording that was compacted does not try what is capped and unknown")
	}
	if dir := os.Getenv("PRECIS_TRANSCRIPTS"); dir != "" {
		found := got(filepath.Glob(filepath.Join(dir, "*", "*")))(t)
		runs := sample.OneIn(t, 0, 32)
		for i, path := range found {
			if runs(i) {
				paths = append(paths, got(filepath.Abs(path))(t))
			}
		}
	}
	read, wrong, recordings := 0, 0, 0
	count := func(n, w int) {
		read, wrong = read+n, wrong+w
		if n > 0 {
			recordings++
		}
	}
	for i, path := range paths {
		count(figuresOf(t, path))
		if i > 4 && i%8 > 0 {
			continue
		}
		out := filepath.Join(t.TempDir(), "c.precis")
		if run(t.Context(), []string{"-q", "condense", "--window", "20000", "--force", "-o", out, path}, console.Streams{In: strings.NewReader(""), Out: io.Discard, Errs: io.Discard}) == 0 {
			if _, err := os.Stat(out); err == nil {
				count(figuresOf(t, out))
			}
		}
	}
	t.Logf("%d numbers of %d recordings, %d differ", read, recordings, wrong)
}

// TestFiguresOfSessions: the list of the sessions of this machine, on the command line, the pages
// and the MCP server, has the numbers that each session has by itself.
func TestFiguresOfSessions(t *testing.T) {
	if testing.Short() {
		t.Skip("the pages of TestFiguresOfRecordings again")
	}
	ownHome(t)
	folder := filepath.Join(os.Getenv("HOME"), ".claude", "projects", "-src")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join("..", "..", "examples", "add-a-counter.jsonl"), compactedElsewhere(t)} {
		if err := os.WriteFile(filepath.Join(folder, filepath.Base(path)), got(os.ReadFile(path))(t), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tools := newCommandLine(console.Streams{In: strings.NewReader(""), Out: io.Discard, Errs: io.Discard})
	defer tools.Close()
	defer tools.Jobs.Close()
	home := got(tools.Jobs.Sessions(t.Context(), nil, nil))(t).Home()
	address, _ := servingGateway(t, false, "-q", "ui")
	b, cs := newBrowser(t, address), agent(t, "-q")
	listed := parsed(t, program(t, "-q", "sessions", "--json")).list("sessions")
	if len(listed) != 2 {
		t.Fatalf("%d sessions", len(listed))
	}
	read, wrong := 0, 0
	for _, l := range listed {
		id := l.text("id")
		r := &reader{T: t, about: id, want: verbs(t, home, id)}
		r.all("sessions", l, "tokens", "view", "messages", "messages")
		hidden := new(float64)
		if l.number("hidden") != nil {
			hidden = l.number("hidden")
		}
		r.is("sessions", "hidden", hidden)
		r.pages(b, id, false)
		r.overview(b, id)
		r.tools(cs, id)
		read, wrong = read+r.read, wrong+r.wrong
	}
	t.Logf("%d numbers, %d differ", read, wrong)
}

// compactedElsewhere is a recording that its own program has compacted, without saying how
// large the conversation was then. More is lost than a report lists, and more is found than a
// page shows.
func compactedElsewhere(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	n := 0
	line := func(parent, kind, more string) {
		n++
		if parent == "" {
			parent = fmt.Sprintf(`"u%d"`, n-1)
		}
		fmt.Fprintf(&b, `{"parentUuid":%s,"sessionId":"s","uuid":"u%d","timestamp":"2026-01-01T00:%02d:%02dZ","isSidechain":false,"type":%q%s}`+"\n", parent, n, n/60, n%60, kind, more)
	}
	line("null", "user", `,"message":{"role":"user","content":"Never touch the file main.go. Always write a test next to the code. Write the parts, then say which of them opens port 8443."}`)
	for i := range policy.MaxLost + 20 {
		line("", "assistant", fmt.Sprintf(`,"message":{"id":"a%d","role":"assistant","content":[{"type":"text","text":"I write the part %d."},{"type":"tool_use","id":"t%d","name":"Write","input":{"file_path":"src/part_%d/handler.go","content":"package part%d // the port is %d"}}]}`, i, i, i, i*31, i, 8000+i))
		line("", "user", fmt.Sprintf(`,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":"the file was written"}]}`, i))
	}
	line("null", "system", fmt.Sprintf(`,"subtype":"compact_boundary","logicalParentUuid":"u%d","content":"Conversation compacted","compactMetadata":{"trigger":"auto","preTokens":155413}`, n))
	line("", "user", `,"isCompactSummary":true,"message":{"role":"user","content":"This session is being continued from a previous conversation. Files were written."}`)
	line("", "assistant", `,"message":{"id":"z","role":"assistant","content":[{"type":"text","text":"I go on with the rest."}]}`)
	path := filepath.Join(t.TempDir(), "compacted.jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// turn sends one turn of a conversation to a gateway: a system prompt, a tool, and so many
// files that were read.
func turn(t *testing.T, base string, files int) {
	t.Helper()
	list := []string{`{"role":"user","content":"Read the files. Never touch main.go, and always say which port the service opens."}`}
	for i := range files {
		text := got(json.Marshal(strings.Repeat(fmt.Sprintf("value %d of the file %d\nthe file %d of value %d\n", i*7919, i, i, i*7919), 50)))(t)
		list = append(list,
			fmt.Sprintf(`{"role":"assistant","content":[{"type":"text","text":"I read file %d."},{"type":"tool_use","id":"t%d","name":"read","input":{"path":"f%d.txt"}}]}`, i, i, i),
			fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":%s}]}`, i, text))
	}
	body := `{"model":"claude-sonnet-4-5","max_tokens":1000,"system":"You are careful, and you answer in one word where one is enough.",` +
		`"tools":[{"name":"read","description":"Read a file of the project.","input_schema":{"type":"object","properties":{"path":{"type":"string"}}}}],"messages":[` + strings.Join(list, ",") + `]}`
	req := got(http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/v1/messages", strings.NewReader(body)))(t)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Api-Key", "k")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	res := got(http.DefaultClient.Do(req))(t)
	defer res.Body.Close()
	if data := got(io.ReadAll(res.Body))(t); res.StatusCode != http.StatusOK {
		t.Fatalf("a turn: %d %s", res.StatusCode, data)
	}
}

// replica starts a gateway over a store. It returns its address, its conversations, and a function
// that stops it.
func replica(t *testing.T, store, upstream string) (base string, home conversation.Home, stop func()) {
	t.Helper()
	tools := newCommandLine(console.Streams{In: strings.NewReader(""), Out: io.Discard, Errs: io.Discard})
	for key, value := range map[string]string{"gateway.listen": "127.0.0.1:0", "gateway.store": store, "gateway.upstream": upstream, "window": "40000"} {
		tools.Jobs.Set(key, value)
	}
	parts := tools.Jobs.GatewayParts(got(tools.Jobs.Config())(t), nil, "test")
	parts.Operations = true
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	s := got(service.Open(ctx, parts))(t)
	l := got(service.Listen(parts.Config.Gateway))(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(ctx, l)
	}()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			<-done
			if err := s.Close(context.WithoutCancel(ctx)); err != nil {
				t.Error(err)
			}
			tools.Jobs.Close()
		})
	}
	t.Cleanup(stop)
	return "http://" + l.Addr().String(), s.Gateway.Home(gateway.AllOwners), stop
}

// TestFiguresOfAGateway: the API, the pages and the MCP server give the numbers of the verbs over
// the store, of a gateway that holds the conversation, of a second one that shares its
// store, and after a restart.
func TestFiguresOfAGateway(t *testing.T) {
	ownHome(t)
	upstream := providertest.New(nil, providertest.Options{})
	defer upstream.Close()
	upstream.SetDefault(providertest.Text("8443"))
	store, url := filepath.Join(t.TempDir(), "store.db"), upstream.BaseURL("anthropic")
	base, home, stop := replica(t, store, url)
	for _, files := range []int{4, 8, 12} {
		turn(t, base, files)
	}
	list := got(conversation.List(t.Context(), home, conversation.ListQuery{}))(t).Items
	if len(list) != 1 {
		t.Fatalf("%d conversations", len(list))
	}
	id, read, wrong := list[0].ID, 0, 0
	all := func(about string, want sheet, base string) {
		r := &reader{T: t, about: about, want: want}
		r.api(base, id)
		b := newBrowser(t, base+"/precis/")
		r.pages(b, id, true)
		r.overview(b, id)
		cs := got(mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: base + "/precis/mcp", DisableStandaloneSSE: true, MaxRetries: -1}, nil))(t)
		defer cs.Close()
		r.tools(cs, id)
		read, wrong = read+r.read, wrong+r.wrong
	}
	for _, step := range []struct {
		name string
		do   func()
	}{
		{"as it came", func() {}},
		{"condensed", func() {
			if !got(conversation.Condense(t.Context(), home, id, conversation.CondenseOptions{Target: 6000, Summarizer: conversation.ByDigest}))(t).Changed {
				t.Fatal("nothing was condensed")
			}
		}},
		{"after another turn and a pin", func() {
			turn(t, base, 14)
			got(conversation.Pin(t.Context(), home, id, precis.MessageHandle(2)))(t)
		}},
		{"with an edit taken back", func() { got(conversation.Undo(t.Context(), home, id))(t) }},
	} {
		step.do()
		if testing.Short() && step.name != "condensed" {
			continue
		}
		want := verbs(t, home, id)
		all(step.name, want, base)
		second, _, end := replica(t, store, url)
		all(step.name+", on a second replica", want, second)
		end()
		stop()
		base, home, stop = replica(t, store, url)
		all(step.name+", after a restart", want, base)
	}
	t.Logf("%d numbers, %d differ", read, wrong)
}
