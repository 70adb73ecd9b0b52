//go:build sdk

package gateway_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/gateway/polyfill"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/provider/providertest"
	"github.com/precis-dev/precis/store/memory"
)

func TestOthersCompactionsStayWhatTheyAre(t *testing.T) {
	t.Parallel()
	question := `{"role":"user","content":"Old question ALPHA."}`
	for block, c := range map[string]struct{ sealed, readable bool }{
		`{"type":"compaction","content":"We read A.","encrypted_content":"EqQB","signature":"c2ln"}`: {sealed: true},
		`{"type":"compaction","content":null,"encrypted_content":"EqQB"}`:                            {sealed: true},
		`{"type":"compaction","content":"We read A.","cache_control":{"type":"ephemeral"}}`:          {readable: true},
		`{"type":"compaction","content":null}`:                                                       {},
	} {
		for _, native := range []bool{false, true} {
			s := providertest.New(t, providertest.Options{})
			base, _ := start(t, s.URL, func(o *gateway.Options) { o.Native.ContextManagement = native })
			body := fmt.Sprintf(`{"model":"m","max_tokens":500,"tools":[{"name":"x","input_schema":{"type":"object"}}],"messages":[%s,{"role":"assistant","content":[%s,{"type":"text","text":"Then B."}]},{"role":"user","content":"Next?"}]}`, question, block)
			res, out := post(t, base+"/v1/messages", body)
			sent := string(last(s).Body)
			switch {
			case res.StatusCode != 200:
				t.Errorf("%s: %s", block, out)
			case c.sealed || native:
				if sent != body {
					t.Errorf("%s native=%v: sent %s", block, native, sent)
				}
			case strings.Contains(sent, "compaction") || strings.Contains(sent, "ALPHA") == c.readable || strings.Contains(sent, "We read A.") != c.readable || !strings.Contains(sent, "Then B."):
				t.Errorf("%s: sent %s", block, sent)
			}
		}
	}
}

func TestSummarizerThatFailsIsReplacedByADigest(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{})
	w := &writer{fails: true}
	base, _ := start(t, s.URL, func(o *gateway.Options) { o.Summarizer = w })
	c := newTalk(t, base, false, trigger(3000))
	b, _ := compaction(t, c.grow(20))
	if len(w.requests) == 0 || !strings.Contains(b.Content, "ALPHA-0") {
		t.Errorf("%d summaries asked for, %s", len(w.requests), b.Content)
	}
}

func TestAnAgentsTaskOutlivesItsCompaction(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{})
	w := &writer{}
	base, _ := start(t, s.URL, func(o *gateway.Options) { o.Summarizer = w })
	a := newAgent("anthropic", "Read all the files and tell me about BETA-7.")
	compacted := false
	for n := 1; n <= 12; n++ {
		a.read(n, words(30, n))
		res, out := post(t, base+a.path(), with(a.body(n%2 == 0), edits(`{"type":"compact_20260112","trigger":{"type":"input_tokens","value":4000}}`)))
		if res.StatusCode != 200 {
			t.Fatal(out, s.Problems())
		}
		m := read(t, out)
		sent := string(last(s).Body)
		if !strings.Contains(sent, "BETA-7") || !strings.Contains(sent, fmt.Sprintf("line 29 of file %d:", n)) {
			t.Fatalf("turn %d: sent %s", n, sent)
		}
		if m.Content[0].Type != "compaction" {
			continue
		}
		compacted = true
		if !regexp.MustCompile(`(?s)SUMMARY .*BETA-7`).MatchString(m.Content[0].Content) {
			t.Errorf("turn %d: %s", n, m.Content[0].Content)
		}
		if s, ok := polyfill.Unseal(m.Content[0].Encrypted); !ok || s.Messages == 0 || s.Text != "" {
			t.Errorf("sealed %+v", s)
		}
	}
	if !compacted {
		t.Error("no compaction")
	}
}

func TestReplicasShowTheSame(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{})
	st := memory.New()
	replica := func(name string) *talk {
		base, _ := start(t, s.URL, func(o *gateway.Options) {
			window(1_000_000)(o)
			o.Store, o.Shared, o.Replica = st, true, name
		})
		return newTalk(t, base, true, trigger(2000))
	}
	one, two := replica("one"), replica("two")
	var before string
	compacted, changed := 0, 0
	for n := range 30 {
		one, two = two, one
		one.params.Messages = two.params.Messages
		if _, ok := compaction(t, one.say(fmt.Sprintf("Question %d about ALPHA-%d. %s", n, n, words(12, n)))); ok {
			compacted++
		}
		list := strings.TrimSuffix(string(jsonspan.Field(last(s).Body, "messages")), "]")
		if before != "" && !strings.HasPrefix(list, before) {
			changed++
		}
		before = list
	}
	if compacted < 2 || changed != compacted || len(s.Problems()) > 0 {
		t.Errorf("%d compactions, the prefix changed %d times, %v", compacted, changed, s.Problems())
	}
}
