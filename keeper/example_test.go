package keeper_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/keeper"
	"github.com/precis-dev/precis/policy"
)

// api is a model that says what it was sent: how many messages, and whether the user's rule
// was among them.
func api() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := make([]byte, 1<<20)
		n := 0
		for {
			k, err := r.Body.Read(body[n:])
			if n += k; err != nil {
				break
			}
		}
		text := fmt.Sprintf("rule seen: %v", strings.Contains(string(body[:n]), "Never push to main."))
		if strings.Contains(string(body[:n]), `"stream":true`) {
			w.Header().Set("Content-Type", "text/event-stream")
			for _, e := range []string{
				`{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[],"usage":{"input_tokens":9,"output_tokens":1}}}`,
				`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"` + text + `"}}`,
				`{"type":"content_block_stop","index":0}`, `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}`, `{"type":"message_stop"}`,
			} {
				kind, _, _ := strings.Cut(strings.TrimPrefix(e, `{"type":"`), `"`)
				fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, e)
			}
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":%q}],"stop_reason":"end_turn","usage":{"input_tokens":9,"output_tokens":5}}`, text)
	}))
}

// small is a window of 8,000 tokens.
func small(string) int { return 8000 }

// An agent with tools, streamed: it sends its whole history with each request, and never
// sees an overflow. The rule from the beginning is in every view.
func ExampleKeeper_HTTPClient() {
	server := api()
	defer server.Close()
	k, err := keeper.Open("", keeper.Options{Window: small})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer k.Close()
	client := anthropic.NewClient(option.WithHTTPClient(k.HTTPClient()), option.WithBaseURL(server.URL), option.WithAPIKey("key"))

	params := anthropic.MessageNewParams{Model: "claude-sonnet-4-5", MaxTokens: 500,
		Tools:    []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{Name: "read", InputSchema: anthropic.ToolInputSchemaParam{}}}},
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("Read all files. Never push to main."))}}
	for n := range 40 {
		id := fmt.Sprint("toolu_", n)
		params.Messages = append(params.Messages,
			anthropic.NewAssistantMessage(anthropic.NewToolUseBlock(id, map[string]any{"path": fmt.Sprintf("file%d.txt", n)}, "read")),
			anthropic.NewUserMessage(anthropic.NewToolResultBlock(id, strings.Repeat("a line of the file\n", 80), false)))
	}
	stream := client.Messages.NewStreaming(keeper.Named(context.Background(), "ticket-4711"), params)
	var answer anthropic.Message
	for stream.Next() {
		if err := answer.Accumulate(stream.Current()); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(answer.Content[0].Text, stream.Err())

	id, err := k.Find(context.Background(), "ticket-4711")
	fmt.Println(id != "", err)
	// Output:
	// rule seen: true <nil>
	// true <nil>
}

// A conversation by name outlives the program: the next one goes on where it was.
func ExampleKeeper_Conversation() {
	dir, err := os.MkdirTemp("", "keeper")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	for run := range 2 {
		k, err := keeper.Open(filepath.Join(dir, "agent.db"), keeper.Options{Window: small, Model: "claude-sonnet-4-5"})
		if err != nil {
			fmt.Println(err)
			return
		}
		conv, err := k.Conversation(ctx, "ticket-4711")
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("run", run, "begins with", conv.Len(), "messages")
		for range 30 {
			conv.Append(precis.NewText(precis.RoleUser, "What does this do? "+strings.Repeat("It is long. ", 100)), precis.NewText(precis.RoleAssistant, "It counts."))
		}
		conv.Append(precis.NewText(precis.RoleUser, "And now?"))
		view, err := conv.View(ctx)
		fmt.Println("reduced:", view.Acted, "fits:", view.Tokens <= 8000, err)
		conv.Append(precis.NewText(precis.RoleAssistant, "It is done."))
		if _, err := conv.View(ctx); err != nil {
			fmt.Println(err)
		}
		k.Close()
	}
	// Output:
	// run 0 begins with 0 messages
	// reduced: true fits: true <nil>
	// run 1 begins with 62 messages
	// reduced: true fits: true <nil>
}

// Several agents of one program share a keeper; each has its own conversation, and all of
// them can be searched.
func ExampleKeeper_Home() {
	k, err := keeper.Open("", keeper.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer k.Close()
	ctx := context.Background()
	for agent, task := range map[string]string{"planner": "Plan the port of the scheduler.", "tester": "Test the lease of shard kestrel-7."} {
		conv, err := k.Conversation(ctx, agent)
		if err != nil {
			fmt.Println(err)
			return
		}
		conv.Append(precis.NewText(precis.RoleUser, task))
		if _, err := conv.View(ctx); err != nil {
			fmt.Println(err)
		}
	}
	page, err := conversation.List(ctx, k.Home(), conversation.ListQuery{})
	fmt.Println(len(page.Items), "conversations", err)
	found, err := conversation.Search(ctx, k.Home(), conversation.SearchOptions{Text: "kestrel-7"})
	fmt.Println(len(found.Items), "found", err)
	// Output:
	// 2 conversations <nil>
	// 1 found <nil>
}

// logs is a rung of one's own: it leaves out what old logs said, except where something is kept.
type logs struct{}

func (logs) Name() string { return "logs" }

func (logs) Propose(_ context.Context, s *policy.Situation) (precis.Edit, error) {
	e := precis.Edit{Kind: precis.KindPruning, Report: precis.EditReport{Reason: "old logs"}}
	for i := range s.Transcript.Len() - 1 {
		for b, block := range s.Transcript.At(i).Content {
			if r, ok := block.(precis.ToolResult); ok && strings.HasPrefix(r.Text(), "LOG ") && !s.Kept.Block(i, b) {
				e.Replace = append(e.Replace, precis.ReplaceBlock(s.Transcript, i, b, precis.ToolResult{ToolUseID: r.ToolUseID, Content: []precis.Block{precis.Text{Text: "(an old log)"}}}))
			}
		}
	}
	return e, nil
}

// A rung of one's own is climbed before the others.
func ExampleOptions_first() {
	k, err := keeper.Open("", keeper.Options{Window: small, First: []policy.Strategy{logs{}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer k.Close()
	conv, err := k.Conversation(context.Background(), "ticket-4711")
	if err != nil {
		fmt.Println(err)
		return
	}
	conv.Append(precis.NewText(precis.RoleUser, "Watch the logs."))
	for n := range 20 {
		id := fmt.Sprint("t", n)
		conv.Append(precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: id, Name: "logs", Input: []byte("{}")}}},
			precis.Message{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: id, Content: []precis.Block{precis.Text{Text: "LOG " + strings.Repeat("all is well\n", 200)}}}}})
	}
	view, err := conv.View(context.Background())
	fmt.Println(view.Acted, err, view.Report.Steps[0].Rung, view.Report.Steps[0].Outcome)
	// Output: true <nil> logs accepted
}
