package lineage_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway/lineage"
	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/wire"
	"github.com/precis-dev/precis/wire/anthropic"
	"github.com/precis-dev/precis/wire/chat"
)

// history is a conversation as a client keeps it.
type history []string

func said(role, text string) string { return fmt.Sprintf(`{"role":%q,"content":%q}`, role, text) }

func call(id string) string {
	return fmt.Sprintf(`{"role":"assistant","content":[{"type":"tool_use","id":%q,"name":"read","input":{}}]}`, id)
}

func result(id, text string) string {
	return fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":%q}]}`, id, text)
}

func (h history) body() []byte {
	return []byte(`{"model":"m","system":"s","messages":[` + strings.Join(h, ",") + `],"tools":[]}`)
}

func place(t testing.TB, tab *lineage.Table[string], owner string, h history) *lineage.Placement[string] {
	t.Helper()
	f, err := tab.Place(context.Background(), lineage.Request{Owner: owner, Dialect: anthropic.Dialect{}, Body: h.body()})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func check(t *testing.T, f *lineage.Placement[string], kind lineage.Kind, known int, parent precis.Fingerprint) {
	t.Helper()
	if f.Kind != kind || f.Known != known || f.Parent != parent {
		t.Errorf("%s, %d known, parent %s; want %s, %d, %s", f.Kind, f.Known, f.Parent.Short(), kind, known, parent.Short())
	}
}

func TestAConversationIsFollowed(t *testing.T) {
	tab := lineage.New(lineage.Options[string]{})
	h := history{said("user", "fix it")}
	first := place(t, tab, "o", h)
	check(t, first, lineage.First, 0, precis.Fingerprint{})
	again := place(t, tab, "o", h)
	check(t, again, lineage.Repeated, 1, first.Node)
	h = append(h, call("t1"), result("t1", strings.Repeat("long ", 300)))
	second := place(t, tab, "o", h)
	check(t, second, lineage.Extended, 1, first.Node)
	if second.Line != first.Line || second.Line.Transcript.Len() != 3 {
		t.Error("another line")
	}
	fork := place(t, tab, "o", append(h[:2:2], result("t1", "something else")))
	check(t, fork, lineage.Branched, 2, first.Node)
	if fork.Line == first.Line || fork.Line.Branched != first.Line.ID || fork.From != first.Line {
		t.Errorf("the branch is %+v", fork.Line)
	}
	back := place(t, tab, "o", append(h, said("assistant", "done"), said("user", "thanks")))
	check(t, back, lineage.Extended, 3, second.Node)
	if back.Line != first.Line {
		t.Error("the first line is lost after a branch")
	}
	other := place(t, tab, "other owner", h)
	check(t, other, lineage.First, 0, precis.Fingerprint{})
}

func TestWhatOnlyBeginsWithTheSameWordsIsAnother(t *testing.T) {
	tab := lineage.New(lineage.Options[string]{})
	h := history{said("user", "hello")}
	first := place(t, tab, "o", h)
	place(t, tab, "o", append(h, said("assistant", "hi"), said("user", "a")))
	second := place(t, tab, "o", h)
	check(t, second, lineage.First, 1, precis.Fingerprint{})
	if second.Line == first.Line || second.Line.ID == first.Line.ID || second.Line.Branched != "" {
		t.Error("two conversations are one")
	}
	// Two agents that began the same way, told apart by what they say next.
	third := place(t, tab, "o", append(h, said("assistant", "ho"), said("user", "b")))
	check(t, third, lineage.Extended, 1, first.Node)
	if third.Line != second.Line {
		t.Error("the second agent lost its line")
	}
}

func TestCacheMarkersAndSpellingDoNotCount(t *testing.T) {
	tab := lineage.New(lineage.Options[string]{})
	a := history{`{"role":"user","content":[{"type":"text","text":"fix it","cache_control":{"type":"ephemeral"}}]}`}
	first := place(t, tab, "o", a)
	b := history{said("user", "fix it"), `{"content":[{"input":{},"name":"read","id":"t","type":"tool_use"}],"role":"assistant"}`, result("t", "x")}
	f := place(t, tab, "o", b)
	check(t, f, lineage.Extended, 1, first.Node)
	if string(f.Item(0)) != b[0] {
		t.Errorf("item %s", f.Item(0))
	}
}

// What a client sends only once, at the end of a request, makes no branch.
func TestVolatileEnds(t *testing.T) {
	begin := history{said("user", "fix it"), call("t1"), result("t1", "a")}
	for name, tt := range map[string]struct {
		was, is []string // after what both begin with
		want    lineage.Kind
	}{
		"a note as a message":         {[]string{said("user", "note 1")}, []string{call("t2"), result("t2", "b"), said("user", "note 2")}, lineage.Amended},
		"a note in the last message":  {[]string{said("user", "go on. note 1")}, []string{said("user", "go on."), call("t2"), result("t2", "b. note 2")}, lineage.Amended},
		"two notes":                   {[]string{said("user", "note"), said("user", "reminder")}, []string{call("t2"), result("t2", "b")}, lineage.Amended},
		"the beginning of an answer":  {[]string{said("user", "go on"), said("assistant", "{")}, []string{said("user", "go on"), said("assistant", "{a}"), said("user", "thanks")}, lineage.Amended},
		"another question":            {[]string{said("user", "do this")}, []string{said("user", "do that")}, lineage.Branched},
		"an answer given up":          {[]string{said("user", "do this"), call("t2"), result("t2", "b")}, []string{said("user", "do that"), call("t3"), result("t3", "b")}, lineage.Branched},
		"more than notes":             {[]string{said("user", "1"), said("user", "2"), said("user", "3"), said("user", "4")}, []string{call("t2"), result("t2", "b")}, lineage.Branched},
		"the same without its answer": {[]string{said("user", "note 1")}, nil, lineage.Branched},
	} {
		tab := lineage.New(lineage.Options[string]{})
		place(t, tab, "o", begin)
		was := place(t, tab, "o", append(begin[:3:3], tt.was...))
		f := place(t, tab, "o", append(begin[:3:3], tt.is...))
		if f.Kind != tt.want {
			t.Errorf("%s: %s, want %s", name, f.Kind, tt.want)
		}
		if tt.want != lineage.Amended {
			if lines, _, _ := tab.Size(); lines != 2 {
				t.Errorf("%s: %d lines", name, lines)
			}
			continue
		}
		if lines, _, _ := tab.Size(); lines != 1 || f.Line == was.Line || f.Line.ID != was.Line.ID || f.From != was.Line || f.Parent != was.Node || len(f.Line.Earlier) != 0 {
			t.Errorf("%s: %d lines, %+v", name, lines, f)
		}
		next := place(t, tab, "o", append(append(begin[:3:3], tt.is...), call("t9"), result("t9", "c")))
		check(t, next, lineage.Extended, f.Len, f.Node)
	}
}

func TestClearedResults(t *testing.T) {
	long := strings.Repeat("a line of a file\n", 50)
	h := history{said("user", "fix it"), call("t1"), result("t1", long), call("t2"), result("t2", long+"2")}
	for name, tt := range map[string]struct {
		change string
		want   lineage.Kind
	}{
		"cleared":        {result("t1", "[Old tool result content cleared]"), lineage.Rewritten},
		"empty":          {`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[]}]}`, lineage.Rewritten},
		"another result": {result("t1", long+"but different"), lineage.Branched},
		"another call":   {result("t9", "[cleared]"), lineage.First},
	} {
		tab := lineage.New(lineage.Options[string]{})
		was := place(t, tab, "o", h)
		next := append(append(history{}, h...), call("t3"), result("t3", "new"))
		next[2] = tt.change
		if name == "another call" {
			next[1] = call("t9")
		}
		f := place(t, tab, "o", next)
		if f.Kind != tt.want {
			t.Errorf("%s: %s, want %s", name, f.Kind, tt.want)
			continue
		}
		if tt.want != lineage.Rewritten {
			continue
		}
		if f.Line.ID != was.Line.ID || f.Parent != was.Node || f.Known != 5 || fmt.Sprint(f.Cleared) != "[2]" || len(f.Line.Earlier) != 1 || f.Line.Earlier[0] != was.Node {
			t.Errorf("%s: %+v", name, f)
		}
		again := place(t, tab, "o", append(next, said("assistant", "done"), said("user", "more")))
		check(t, again, lineage.Extended, 7, f.Node)
		if tab.Line("o", was.Line.ID) != f.Line {
			t.Errorf("%s: the ID names the old form", name)
		}
	}
}

func TestSystemPromptsAmongTheMessages(t *testing.T) {
	tab := lineage.New(lineage.Options[string]{})
	body := func(system string, more ...string) []byte {
		return []byte(`{"model":"m","messages":[` + strings.Join(append([]string{said("system", system), said("developer", "d")}, more...), ",") + `]}`)
	}
	long := strings.Repeat("many words ", 60)
	put := func(b []byte) *lineage.Placement[string] {
		f, err := tab.Place(context.Background(), lineage.Request{Owner: "o", Dialect: chat.Dialect{}, Body: b})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	h := []string{said("user", "a"+long), said("assistant", "b"), said("user", "c")}
	first := put(body("today is Monday", h[:1]...))
	f := put(body("today is Tuesday", h...))
	check(t, f, lineage.Extended, 1, first.Node)
	if f.Lead != 2 || f.Len != 3 || f.Prompt.System.PlainText() != "today is Tuesday\nd" || string(f.Item(2)) != h[2] {
		t.Errorf("lead %d, %d messages, system %q", f.Lead, f.Len, f.Prompt.System.PlainText())
	}
	g := put(body("today is Tuesday", append(h, said("assistant", "x"), said("user", "y"))...))
	if &g.Prompt.System.Content[0] != &f.Prompt.System.Content[0] {
		t.Error("the same system prompt is read again")
	}
}

func TestPassingRequestsLeaveNoTrace(t *testing.T) {
	tab := lineage.New(lineage.Options[string]{})
	h := history{said("user", "a"), said("assistant", "b"), said("user", "c")}
	was := place(t, tab, "o", h)
	r := lineage.Request{Owner: "o", Dialect: anthropic.Dialect{}, Body: append(h, said("assistant", "d"), said("user", "sum up")).body(), Passes: func(*wire.Body, wire.Prompt, []precis.Message) lineage.Passes { return lineage.PassAlways }}
	f, err := tab.Place(context.Background(), r)
	if err != nil || f.Line.ID != was.Line.ID || f.From != was.Line || f.Line == was.Line {
		t.Fatalf("%+v, %v", f, err)
	}
	if lines, _, _ := tab.Size(); lines != 1 || was.Line.Transcript.Len() != 3 {
		t.Errorf("%d lines, %d messages", lines, was.Line.Transcript.Len())
	}
}

func TestTheStoreIsAskedForWhatMemoryForgot(t *testing.T) {
	h := history{said("user", "a"), said("assistant", "b"), said("user", "c")}
	var asked int
	var state string
	tab := lineage.New(lineage.Options[string]{
		Load: func(_ context.Context, owner, _ string, prints []precis.Fingerprint, known int) (*lineage.Known, error) {
			asked++
			if owner == "broken" {
				return nil, errors.New("no store")
			}
			return &lineage.Known{Len: 2, Edits: []precis.Edit{{ID: "e1"}}, Record: &store.Record{ID: "c1", Head: prints[0]}}, nil
		},
		Adopt: func(_ *lineage.Placement[string], known *lineage.Known) string {
			if known != nil {
				state = known.Edits[0].ID
			}
			return state
		},
	})
	f := place(t, tab, "o", h)
	if f.Kind != lineage.Extended || f.Known != 2 || f.Line.ID != "c1" || f.Line.State != "e1" {
		t.Errorf("%+v, %v", f, state)
	}
	place(t, tab, "o", append(h, said("assistant", "d"), said("user", "e")))
	if asked != 1 {
		t.Errorf("asked %d times for what is in memory", asked)
	}
	b, err := tab.Place(context.Background(), lineage.Request{Owner: "broken", Dialect: anthropic.Dialect{}, Body: h.body()})
	if err == nil || b == nil || b.Kind != lineage.First {
		t.Errorf("%+v, %v", b, err)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	tab := lineage.New(lineage.Options[string]{Bytes: 1 << 20})
	text := strings.Repeat("x", 20_000)
	for i := range 200 {
		place(t, tab, "o", history{said("user", fmt.Sprint(i, text)), said("assistant", "b"), said("user", "c")})
	}
	lines, bytes, dropped := tab.Size()
	if bytes > 1<<20 || lines == 0 || lines+dropped != 200 {
		t.Errorf("%d lines in %d bytes, %d dropped", lines, bytes, dropped)
	}
	for _, l := range tab.Lines() {
		tab.Drop(l)
	}
	if lines, bytes, _ := tab.Size(); lines != 0 || bytes != 0 {
		t.Errorf("%d lines, %d bytes are left", lines, bytes)
	}
}

func TestABranchThatIsDroppedLeavesTheSharedNodes(t *testing.T) {
	tab := lineage.New(lineage.Options[string]{})
	h := history{said("user", "a"), said("assistant", "b"), said("user", "c")}
	first := place(t, tab, "o", h)
	h = append(h, said("assistant", "d"), said("user", "e"))
	place(t, tab, "o", h)
	fork := place(t, tab, "o", append(h[:3:3], said("assistant", "other"), said("user", "way")))
	tab.Drop(fork.Line)
	again := place(t, tab, "o", append(h[:3:3], said("assistant", "third"), said("user", "way")))
	check(t, again, lineage.Branched, 3, first.Node)
	if again.From != first.Line {
		t.Error("the branch does not know the line it left")
	}
}

func TestBadBodiesNameThePlace(t *testing.T) {
	tab := lineage.New(lineage.Options[string]{})
	for body, want := range map[string]string{
		`{"messages":[{"role":"user"`:                          "byte 27",
		`{"messages":[{"role":"user","content":"a"},{"x":1}]}`: "messages 1 at byte 43",
		`{"messages":[],"messages":[]}`:                        "twice",
		`[]`:                                                   "byte 0",
	} {
		_, err := tab.Place(context.Background(), lineage.Request{Dialect: anthropic.Dialect{}, Body: []byte(body)})
		if precis.CodeOf(err) != precis.CodeInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
	}
}

// TestLikeTheModel compares many random requests with a model that keeps them
// all and looks through them.
func TestLikeTheModel(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 1))
		tab := lineage.New(lineage.Options[string]{})
		var seen []history
		var nodes []precis.Fingerprint
		h := history{said("user", "task 0")}
		for step := range 120 {
			switch k := r.IntN(10); {
			case k == 0: // another conversation
				h = history{said("user", fmt.Sprint("task ", step))}
			case k == 1 && len(seen) > 0: // an earlier request goes on
				h = append(history{}, seen[r.IntN(len(seen))]...)
			case k == 2 && len(h) > 1: // back to an earlier point
				h = append(history{}, h[:1+r.IntN(len(h)-1)]...)
			}
			if r.IntN(5) > 0 || len(h) == 1 {
				id := fmt.Sprint("t", seed, "-", step)
				h = append(h[:len(h):len(h)], call(id), result(id, strings.Repeat(fmt.Sprint(step), 1+r.IntN(2000))))
			}
			f := place(t, tab, "o", h)
			known, parent := 0, -1
			for i, s := range seen {
				n := common(s, h)
				known = max(known, n)
				if n == len(s) && (parent < 0 || len(s) > len(seen[parent])) {
					parent = i
				}
			}
			if f.Known != known {
				t.Fatalf("seed %d step %d: %d known, want %d", seed, step, f.Known, known)
			}
			if answered := known > 1; parent >= 0 && answered && f.Parent != nodes[parent] {
				t.Fatalf("seed %d step %d: parent %s, want %s", seed, step, f.Parent.Short(), nodes[parent].Short())
			}
			want := precis.NewTranscript(decode(t, h)...)
			if f.Node != want.Fingerprint(want.Len()) || f.Line.Transcript.Fingerprint(f.Len) != f.Node {
				t.Fatalf("seed %d step %d: the node is not that of the messages", seed, step)
			}
			seen, nodes = append(seen, h), append(nodes, f.Node)
		}
	}
}

func common(a, b history) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

func decode(t *testing.T, h history) []precis.Message {
	t.Helper()
	msgs, err := anthropic.DecodeMessages([]byte("[" + strings.Join(h, ",") + "]"))
	if err != nil {
		t.Fatal(err)
	}
	return msgs
}

func TestManyAtOnce(t *testing.T) {
	tab := lineage.New(lineage.Options[string]{Bytes: 4 << 20})
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			h := history{said("user", fmt.Sprint("task ", i%4))}
			for n := range 40 {
				id := fmt.Sprint(i, "-", n)
				h = append(h, call(id), result(id, strings.Repeat("x", 500)))
				f, err := tab.Place(context.Background(), lineage.Request{Owner: "o", Dialect: anthropic.Dialect{}, Body: h.body()})
				if err != nil || f.Len != len(h) {
					t.Errorf("%v", err)
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkPlace(b *testing.B) {
	tab := lineage.New(lineage.Options[string]{})
	h := history{said("user", "task")}
	for n := range 300 {
		h = append(h, call(fmt.Sprint(n)), result(fmt.Sprint(n), strings.Repeat("some text of a file\n", 170)))
	}
	bodies := make([][]byte, 100)
	for i := range bodies {
		h = append(h, call(fmt.Sprint("more", i)), result(fmt.Sprint("more", i), "x"))
		bodies[i] = h.body()
	}
	b.SetBytes(int64(len(bodies[0])))
	for i := 0; b.Loop(); i++ {
		if i%len(bodies) == 0 {
			tab = lineage.New(lineage.Options[string]{})
		}
		if _, err := tab.Place(context.Background(), lineage.Request{Owner: "o", Dialect: anthropic.Dialect{}, Body: bodies[i%len(bodies)]}); err != nil {
			b.Fatal(err)
		}
	}
}

// Scopes separate what says the same: each list continues the line of its own scope,
// and what one of them rewrites or forks is nothing to the others.
func TestScopesHaveNothingInCommon(t *testing.T) {
	tab := lineage.New(lineage.Options[string]{})
	ids := map[string]string{}
	h := history{said("user", "fix it")}
	for i := range 4 {
		for _, scope := range []string{"", "a", "b"} {
			f, err := tab.Place(t.Context(), lineage.Request{Owner: "o", Scope: scope, Dialect: anthropic.Dialect{}, Body: h.body()})
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				ids[scope] = f.Line.ID
			}
			if want := map[bool]lineage.Kind{true: lineage.First, false: lineage.Extended}[i == 0]; f.Kind != want || f.Line.ID != ids[scope] || f.Line.Scope != scope {
				t.Errorf("scope %q, request %d: %s of %s, want %s of %s", scope, i, f.Kind, f.Line.ID, want, ids[scope])
			}
		}
		h = append(h, call(fmt.Sprint("t", i)), result(fmt.Sprint("t", i), strings.Repeat("long ", 300)))
	}
	if ids[""] == ids["a"] || ids["a"] == ids["b"] {
		t.Errorf("IDs %v", ids)
	}
	if f := place(t, tab, "o", h[:3]); f.Line.ID == ids["a"] || f.Line.ID == ids["b"] {
		t.Error("a fork without a scope leaves a line that has one")
	}
}
