package upstream

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// mark puts the one breakpoint on the last message.
func (c *talk) mark() {
	for i := range c.messages {
		content := list(c.at(i)["content"])
		if text, ok := c.at(i)["content"].(string); ok {
			content = []any{object{"type": "text", "text": text}}
			c.at(i)["content"] = content
		}
		for _, b := range content {
			delete(b.(object), "cache_control")
		}
	}
	content := list(c.at(len(c.messages) - 1)["content"])
	content[len(content)-1].(object)["cache_control"] = object{"type": "ephemeral"}
}

func long(s string) string { return strings.Repeat(s+" is a word. ", 600) }

func TestMarkedCacheReadsWhatWasWritten(t *testing.T) {
	s := start(t, Options{Files: files(9)})
	c := newTalk(t, s, anthropicDialect)
	c.body["system"] = long("system")
	for range 8 {
		c.mark()
		c.turn()
	}
	for i, r := range s.Stats().Records[1:] {
		before := s.Stats().Records[i]
		if r.Cached != before.Tokens || r.Cached+r.Written != r.Tokens {
			t.Errorf("request %d read %d and wrote %d of %d, want %d read", i+2, r.Cached, r.Written, r.Tokens, before.Tokens)
		}
	}
	if share := s.Stats().CacheShare(); share < 0.99 {
		t.Errorf("the share is %.3f", share)
	}
	_, out := c.send()
	u := out["usage"].(object)
	if sum := u["input_tokens"].(float64) + u["cache_read_input_tokens"].(float64) + u["cache_creation_input_tokens"].(float64); int(sum) != s.Stats().Records[8].Tokens {
		t.Errorf("the usage is %v", u)
	}
}

func TestNothingIsCachedUnasked(t *testing.T) {
	s := start(t, Options{Files: files(9)})
	c := newTalk(t, s, anthropicDialect)
	c.body["system"] = long("system")
	c.turn()
	c.turn()
	if share := s.Stats().CacheShare(); share != 0 {
		t.Errorf("the share is %.3f", share)
	}
}

func TestCacheLooksBackTwentyBlocks(t *testing.T) {
	for more, found := range map[int]bool{19: true, 20: false} {
		s := start(t, Options{})
		c := newTalk(t, s, anthropicDialect)
		content := []any{cached(long("first"))}
		c.messages = []any{object{"role": "user", "content": content}}
		c.send()
		delete(content[0].(object), "cache_control")
		for range more {
			content = append(content, object{"type": "text", "text": "more"})
		}
		content[len(content)-1] = cached("more")
		c.messages = []any{object{"role": "user", "content": content}}
		c.send()
		if got := s.Stats().Records[1].Cached > 0; got != found {
			t.Errorf("%d blocks on: found %v, want %v", more, got, found)
		}
	}
}

func TestChangedPrefixIsNotCached(t *testing.T) {
	for _, d := range dialectsUnderTest {
		s := start(t, Options{Files: files(9)})
		c := newTalk(t, s, d)
		c.messages[0] = user(long("task"))
		if d == anthropicDialect {
			c.mark()
		}
		c.send()
		c.send()
		c.messages[0] = user("Other " + long("task"))
		if d == anthropicDialect {
			c.mark()
		}
		c.send()
		r := s.Stats().Records
		if r[0].Cached != 0 || r[1].Cached < r[1].Tokens-2*cacheStep || r[2].Cached != 0 {
			t.Errorf("%s: read %d, %d, %d of %d", d.name, r[0].Cached, r[1].Cached, r[2].Cached, r[1].Tokens)
		}
	}
}

func TestAutomaticCacheAdvancesInSteps(t *testing.T) {
	s := start(t, Options{Files: files(9)})
	c := newTalk(t, s, chatDialect)
	c.messages[0] = user(long("task"))
	c.turn()
	c.turn()
	r := s.Stats().Records
	if r[1].Cached%cacheStep != 0 || r[1].Cached < r[0].Tokens-2*cacheStep {
		t.Errorf("read %d of %d", r[1].Cached, r[0].Tokens)
	}
	short := newTalk(t, s, chatDialect)
	short.send()
	short.send()
	if got := s.Stats().Records[3].Cached; got != 0 {
		t.Errorf("read %d of a short prompt", got)
	}
}

func TestFirstTokensAndSplices(t *testing.T) {
	s := start(t, Options{Files: files(9)})
	c := newTalk(t, s, chatDialect)
	c.turn()
	c.turn()
	c.cut(1, 3)
	c.messages[0] = user("Condensed.")
	c.turn()
	r := s.Stats().Records
	if r[0].First != r[0].Tokens || r[1].First >= r[1].Tokens || r[1].Splice {
		t.Errorf("at first: %+v", r[:2])
	}
	if !r[2].Splice || r[2].First == 0 || r[2].First >= r[2].Tokens {
		t.Errorf("after a splice: %+v", r[2])
	}
	if stats := s.Stats(); stats.Splices != 1 || stats.Again != r[1].Tokens-r[1].First {
		t.Errorf("stats %+v", stats)
	}
}

func TestUsageFactor(t *testing.T) {
	s := start(t, Options{UsageFactor: 0.1})
	c := newTalk(t, s, responsesDialect)
	c.messages[0] = user(long("task"))
	_, out := c.send()
	if got, tokens := out["usage"].(object)["input_tokens"].(float64), s.Stats().Records[0].Tokens; got < float64(tokens)/10-1 || got > float64(tokens)/10+1 {
		t.Errorf("%v of %d", got, tokens)
	}
}

func TestObserverAndOtherPaths(t *testing.T) {
	var seen []Record
	s := start(t, Options{Files: files(2), Latency: time.Millisecond, Observe: func(r Record, _ http.Header, body []byte) {
		if len(body) > 0 {
			seen = append(seen, r)
		}
	}})
	c := newTalk(t, s, chatDialect)
	c.body["stream"] = true
	c.turn()
	if len(seen) != 1 || seen[0].N != 1 || seen[0].Run != "r1" {
		t.Errorf("observed %+v", seen)
	}
	for path, want := range map[string]int{"/v1/models": 200, "/v1/models/m": 200, "/stats": 200, "/api/hello": 200, "/v1/nothing": 404} {
		resp, err := http.Get(s.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%s: status %d, want %d", path, resp.StatusCode, want)
		}
	}
	req, _ := http.NewRequest(http.MethodGet, s.URL+"/v1/responses", nil)
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", "websocket")
	if resp, err := http.DefaultClient.Do(req); err != nil || resp.StatusCode != http.StatusUpgradeRequired {
		t.Errorf("upgrade: %v %v", resp, err)
	}
}
