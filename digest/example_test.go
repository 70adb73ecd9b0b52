package digest_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/policy"
)

func conversation() []precis.Message {
	return []precis.Message{
		precis.NewText("user", "Make the tests of the parser pass. Never touch lexer.go."),
		{Role: "assistant", Content: []precis.Block{
			precis.Text{Text: "I run the tests."},
			precis.ToolUse{ID: "1", Name: "Bash", Input: []byte(`{"command":"go test ./parser"}`)},
		}},
		{Role: "user", Content: []precis.Block{precis.ToolResult{ToolUseID: "1", Content: []precis.Block{
			precis.Text{Text: "--- FAIL: TestNestedCall (0.00s)\n    parser_test.go:41: got 2 arguments, want 3\nFAIL"}}}}},
		{Role: "assistant", Content: []precis.Block{
			precis.Text{Text: "parseArguments stops at the first comma."},
			precis.ToolUse{ID: "2", Name: "Edit", Input: []byte(`{"file_path":"parser/call.go","old_string":"return args","new_string":"return append(args, parseArguments(p)...)"}`)},
		}},
		{Role: "user", Content: []precis.Block{precis.ToolResult{ToolUseID: "2", Content: []precis.Block{precis.Text{Text: "done"}}}}},
	}
}

func ExampleWriter() {
	s, err := digest.Writer{}.Summarize(context.Background(), policy.SummaryRequest{Messages: conversation(), MaxTokens: 600})
	if err != nil {
		panic(err)
	}
	for line := range strings.Lines(s.Text) {
		if strings.HasPrefix(line, "- ") {
			fmt.Print(line)
		}
		if strings.HasPrefix(line, "## Lines") {
			break
		}
	}
	// Output:
	// - m0: Make the tests of the parser pass. Never touch lexer.go.
	// - m3: parseArguments stops at the first comma.
	// - m1 `go test ./parser` → FAILED: --- FAIL: TestNestedCall (0.00s); parser_test.go:41: got 2 arguments, want 3; edited since: parser/call.go
	// - parser/call.go edited (m3)
}

func ExampleRepair() {
	r := digest.Repair(policy.SummaryRequest{
		Messages: conversation(), Previous: "The user wants the parser fixed; parser/call.go was edited.", MaxTokens: 200,
	}, digest.RepairOptions{})
	fmt.Println(strings.Contains(r.Text, "Never touch lexer.go."))
	fmt.Println(r.Added[0])
	// Output:
	// true
	// 1 last request added
}
