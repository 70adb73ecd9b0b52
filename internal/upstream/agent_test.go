package upstream

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestAgentReadsAllFiles(t *testing.T) {
	for _, d := range dialectsUnderTest {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s stream=%v", d.name, stream), func(t *testing.T) {
				s := start(t, Options{Files: files(9), Thinking: true})
				c := newTalk(t, s, d)
				c.body["stream"] = stream
				if d == anthropicDialect {
					c.body["thinking"] = object{"type": "enabled", "budget_tokens": 2000}
				}
				turns := 1
				for ; c.turn(); turns++ {
				}
				if !slices.Equal(c.read, files(9)) {
					t.Errorf("it was asked for %v", c.read)
				}
				if turns != 9 { // once two at a time, and the end
					t.Errorf("%d turns, want 9", turns)
				}
				if last := string(encode(c.messages[len(c.messages)-1])); !strings.Contains(last, Done) {
					t.Errorf("the last message is %s", last)
				}
				if stats := s.Stats(); stats.Main != turns || stats.Runs != 1 || stats.Splices != 0 || len(stats.Refused) != 0 {
					t.Errorf("stats %+v", stats)
				}
			})
		}
	}
}

func TestConversationsAreInterleaved(t *testing.T) {
	s := start(t, Options{Files: files(8)})
	var talks []*talk
	for i := range 6 {
		talks = append(talks, newTalk(t, s, dialectsUnderTest[i%3]))
	}
	for going := true; going; {
		going = false
		for _, c := range talks {
			if len(c.read) < 8 {
				going = c.turn() || going
			}
		}
	}
	for i, c := range talks {
		if !slices.Equal(c.read, files(8)) {
			t.Errorf("conversation %d read %v", i, c.read)
		}
	}
	if n := s.Stats().Runs; n != 6 {
		t.Errorf("%d runs, want 6", n)
	}
}

func TestCondensedConversationGoesOn(t *testing.T) {
	s := start(t, Options{Files: files(9)})
	c := newTalk(t, s, anthropicDialect)
	for range 5 {
		c.turn()
	}
	digest := object{"role": "user", "content": "Earlier: toolu_r9_30 is not of this run. Read files before."}
	c.messages = append([]any{c.messages[0], digest}, c.messages[len(c.messages)-2:]...)
	for c.turn() {
	}
	if !slices.Equal(c.read, files(9)) {
		t.Errorf("read %v", c.read)
	}
	if stats := s.Stats(); stats.Splices != 1 || stats.Runs != 1 {
		t.Errorf("%d splices in %d runs, want 1 in 1", stats.Splices, stats.Runs)
	}
}

func TestRetryAndForkAreAnsweredAlike(t *testing.T) {
	s := start(t, Options{Files: files(9)})
	c := newTalk(t, s, chatDialect)
	c.turn()
	c.turn()
	_, one := c.send()
	c.turn()
	c.messages = c.messages[:len(c.messages)-2]
	_, again := c.send()
	if a, b := encode(list(one["choices"])[0]), encode(list(again["choices"])[0]); string(a) != string(b) {
		t.Errorf("first %s, then %s", a, b)
	}
}

func TestSummaryOfOursNamesThePlace(t *testing.T) {
	for _, shown := range []string{"with call IDs", "as plain text"} {
		s := start(t, Options{Files: files(9)})
		c := newTalk(t, s, chatDialect)
		for range 3 {
			c.turn()
		}
		ask := object{"role": "user", "content": "Write a summary of the conversation above:\n1. Goal: what\n2. Next step: what"}
		if shown == "with call IDs" {
			c.messages = append(c.messages, ask)
		} else {
			delete(c.body, "tools")
			c.messages = []any{object{"role": "user", "content": "[read /p/file03.txt]"}, ask}
		}
		_, out := c.send()
		text := str(list(out["choices"])[0].(object)["message"], "content")
		if !strings.Contains(text, "1. Goal:") || !strings.Contains(text, "2. Next step:") {
			t.Fatalf("%s: the summary is %s", shown, text)
		}
		next := newTalk(t, s, chatDialect)
		next.messages = []any{object{"role": "user", "content": "Read the files.\n" + text}}
		next.turn()
		if want := files(9)[3:5]; !slices.Equal(next.read, want) {
			t.Errorf("%s: it went on with %v, want %v", shown, next.read, want)
		}
		if stats := s.Stats(); stats.Summaries != 1 {
			t.Errorf("%s: %d summaries", shown, stats.Summaries)
		}
	}
}

func TestSideRequestsAreNoTurns(t *testing.T) {
	s := start(t, Options{Files: files(9)})
	c := newTalk(t, s, anthropicDialect)
	c.turn()
	aside := newTalk(t, s, anthropicDialect)
	delete(aside.body, "tools")
	aside.messages = []any{object{"role": "user", "content": "Generate a title for the conversation"}}
	aside.body["output_config"] = object{"format": object{"type": "json_schema"}}
	_, out := aside.send()
	if text := str(list(out["content"])[0], "text"); !strings.HasPrefix(text, "{") {
		t.Errorf("the title is %q", text)
	}
	if status, out := c.post("/v1/messages/count_tokens", object{"model": "m", "messages": c.messages}); status != 200 || out["input_tokens"] == 0.0 {
		t.Errorf("count: %d %v", status, out)
	}
	c.turn()
	if want := files(2); !slices.Equal(c.read, want) {
		t.Errorf("read %v", c.read)
	}
	if stats := s.Stats(); stats.Side != 1 || stats.Main != 2 || len(stats.Records) != 4 {
		t.Errorf("stats %+v", stats)
	}
}

func TestCompaction(t *testing.T) {
	s := start(t, Options{Files: files(9)})
	c := newTalk(t, s, responsesDialect)
	for range 3 {
		c.turn()
	}
	body := object{"model": "m", "input": append(slices.Clone(c.messages), object{"type": "compaction_trigger"}), "tools": c.body["tools"]}
	_, inBand := c.post("/v1/responses", body)
	_, byPath := c.post("/v1/responses/compact", object{"model": "m", "input": c.messages})
	for _, out := range []object{inBand, byPath} {
		if output := list(out["output"]); len(output) != 1 || str(output[0], "type") != "compaction" {
			t.Fatalf("output %v", output)
		}
	}
	c.messages = []any{c.messages[0], list(byPath["output"])[0]}
	c.turn()
	if want := files(5); !slices.Equal(c.read, want) {
		t.Errorf("read %v", c.read)
	}
}
