package hostile_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/archive/formats"
	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/internal/harness"
	"github.com/precis-dev/precis/internal/hostile"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/internal/plain"
	"github.com/precis-dev/precis/internal/preview"
	"github.com/precis-dev/precis/internal/sample"
	"github.com/precis-dev/precis/internal/toolcall"
	"github.com/precis-dev/precis/outline"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/retain"
	"github.com/precis-dev/precis/tokens"
	"github.com/precis-dev/precis/wire"
	"github.com/precis-dev/precis/wire/anthropic"
	"github.com/precis-dev/precis/wire/chat"
	"github.com/precis-dev/precis/wire/overflow"
	"github.com/precis-dev/precis/wire/responses"
)

// hostileSize is the size of hostile texts in bytes: PRECIS_HOSTILE, or a megabyte. A
// reader that is not linear takes many minutes for one, and the test never ends.
func hostileSize(t *testing.T) int {
	if s := os.Getenv("PRECIS_HOSTILE"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatalf("PRECIS_HOSTILE: %v", err)
		}
		return n
	}
	if testing.Short() {
		return 20_000 // with the race detector: it looks for races, not for time
	}
	return 1_000_000
}

// textReaders are what looks into texts that tools, files, pages and clients brought.
// Each returns what it would keep.
var textReaders = map[string]func(s string) any{
	"tokens": func(s string) any { return tokens.O200k().Count(s) },
	"shell":  func(s string) any { return toolcall.PurposeOf(s) },
	"state": func(s string) any {
		input, _ := json.Marshal(map[string]string{"command": s})
		return digest.StateOf(&precis.Conversation{Transcript: precis.NewTranscript(
			precis.NewText(precis.RoleUser, s), precis.NewText(precis.RoleAssistant, "<command>\n"+s+"\n</command>"),
			precis.NewText(precis.RoleUser, s+"\n(Current directory: /)\nbash-$"),
			precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: "1", Name: "bash", Input: input}}},
			precis.Message{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: "1", Content: []precis.Block{precis.Text{Text: s}}}}},
		)})
	},
	"XML":      func(s string) any { return toolcall.ParseXML(s) },
	"words":    func(s string) any { return []any{harness.UserWords(s), harness.Commands(s), harness.ProgramEnd(s)} },
	"visible":  func(s string) any { return plain.Text(s) },
	"preview":  func(s string) any { return preview.Of(s, preview.Hint{}) },
	"rules":    func(s string) any { return retain.Constraints(s) },
	"facts":    func(s string) any { n := 0; retain.Scan(s, func(retain.Anchor) { n++ }); return n },
	"shorten":  func(s string) any { return retain.Shorten(s, 1000, "") },
	"overflow": func(s string) any { o, _ := overflow.Classify(400, []byte(s)); return o },
	"JSON": func(s string) any {
		n := 0
		for range jsonspan.Strings([]byte(s)) {
			n++
		}
		return []any{jsonspan.Valid([]byte(s)), n}
	},
	"outline": func(s string) any {
		return [][]outline.Definition{outline.Of("a.go", s), outline.Of("a.py", s), outline.Of("a.md", s)}
	},
	"events": func(s string) any { return wire.ParseEvent([]byte(s)) },
	"bodies": func(s string) any {
		b, err := wire.Parse([]byte(s), "messages", nil)
		_, a := anthropic.DecodeMessages([]byte(s))
		_, c := chat.DecodeMessages([]byte(s))
		_, r := responses.DecodeMessages([]byte(s))
		return []any{b, err, a, c, r}
	},
	"archives": func(s string) any {
		var out []any
		for _, name := range []string{"a.json", "a.jsonl", "a.md", "a.precis"} {
			r, err := archive.Read(archive.Source{Path: name, Data: []byte(s)}, formats.All())
			out = append(out, r, err)
		}
		return out
	},
}

// Whatever text comes, every reader gets to its end in one pass, and keeps no more
// than three times the text, and what its limits allow.
func TestHostileTextIsReadInOnePass(t *testing.T) {
	const limits = 12 << 20 // bytes: what readers keep of short texts is bounded by numbers of lines and words
	size := hostileSize(t)
	for name, read := range textReaders {
		t.Run(name, func(t *testing.T) {
			read("a text\n") // tables and expressions are made once
			runs := sample.OneIn(t, 3, 6)
			for i, s := range hostile.Shapes() {
				if !runs(i) {
					continue
				}
				text := s.Text(size)
				before := heap()
				kept := read(text)
				if held := heap() - before; held > int64(3*len(text)+limits) {
					t.Errorf("%s: %d bytes are kept of %d", s.Name, held, len(text))
				}
				runtime.KeepAlive(kept)
				runtime.KeepAlive(text)
			}
		})
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A conversation that holds hostile text, wherever it stands, is read, digested and
// made to fit, all in one pass, with at most twenty times the memory that the text itself
// takes in the conversation, and what tables and limits allow.
func TestHostileConversationsAreReduced(t *testing.T) {
	const tables = 40 << 20 // bytes: the tokenizer, what is bounded by numbers of lines and words, and what waits for a collector on a busy machine
	size := hostileSize(t)
	if !raced {
		size = max(size, 1_000_000)
	}
	s, err := preset.Settings(preset.Balanced)
	if err != nil {
		t.Fatal(err)
	}
	m, err := preset.New(preset.Options{Settings: s})
	if err != nil {
		t.Fatal(err)
	}
	const window = 20_000
	runs := sample.OneIn(t, 4, 4)
	for i, shape := range hostile.Shapes() {
		if !runs(i) {
			continue
		}
		text := shape.Text(size)
		place, conv := hostileConversation(i, text)
		held := max(len(text), len(jsonspan.AppendString(nil, text)))
		high := highest()
		res, err := m.Manage(context.Background(), policy.Request{Conversation: conv, Window: precis.Window{Tokens: window, Source: precis.SourceConfigured}})
		_, failed := (digest.Writer{}).Summarize(context.Background(), policy.SummaryRequest{Messages: conv.Transcript.Messages()})
		if most := high(); most > uint64(20*held+tables) {
			t.Errorf("%s as %s: %d bytes of memory, %d times the text", shape.Name, place, most, most/uint64(held))
		}
		switch {
		case place == "a system prompt" && precis.CodeOf(err) == precis.CodeOverBudget: // nobody shortens it
		case err != nil:
			t.Errorf("%s as %s: %v", shape.Name, place, err)
		case res.Report.After.Tokens > window:
			t.Errorf("%s as %s: %d tokens of %d", shape.Name, place, res.Report.After.Tokens, window)
		}
		if failed != nil {
			t.Errorf("%s as %s: %v", shape.Name, place, failed)
		}
		runtime.KeepAlive(text)
	}
}

// places is in how many places a conversation holds hostile text.
const places = 7

// hostileConversation returns a conversation that holds the text in one of its places.
func hostileConversation(i int, text string) (place string, conv *precis.Conversation) {
	call := func(name, input, result string) []precis.Message {
		return []precis.Message{
			{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: "c1", Name: name, Input: json.RawMessage(input)}}},
			{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: "c1", Content: []precis.Block{precis.Text{Text: result}}}}},
		}
	}
	quoted := string(jsonspan.AppendString(nil, text))
	msgs := []precis.Message{precis.NewText(precis.RoleUser, "Mend the parser in src/parse.go.")}
	system := ""
	switch i % places {
	case 0:
		place = "a file that was read"
		msgs = append(msgs, call("Read", `{"file_path":"/src/parse.py"}`, text)...)
	case 1:
		place = "a command"
		msgs = append(msgs, call("Bash", `{"command":`+quoted+`}`, "done")...)
	case 2:
		place = "a file that was written"
		msgs = append(msgs, call("Write", `{"file_path":"/src/parse.go","content":`+quoted+`}`, "done")...)
	case 3:
		place = "a request"
		msgs = append(msgs, precis.NewText(precis.RoleAssistant, "How?"), precis.NewText(precis.RoleUser, text))
	case 4:
		place = "an answer"
		msgs = append(msgs, precis.NewText(precis.RoleAssistant, text), precis.NewText(precis.RoleUser, "Go on."))
	case 5:
		place = "reasoning"
		msgs = append(msgs, precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{precis.Thinking{Text: text, Signature: "s"}, precis.Text{Text: "Done."}}}, precis.NewText(precis.RoleUser, "Go on."))
	case 6:
		place, system = "a system prompt", text
	}
	for k := range 6 {
		msgs = append(msgs, precis.NewText(precis.RoleAssistant, fmt.Sprintf("Step %d is done.", k)), precis.NewText(precis.RoleUser, "Go on."))
	}
	return place, &precis.Conversation{ID: "c", System: precis.NewText(precis.RoleSystem, system), Transcript: precis.NewTranscript(msgs...)}
}
