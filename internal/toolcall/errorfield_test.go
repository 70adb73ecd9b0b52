package toolcall_test

import (
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/toolcall"
)

// TestAnErrorInAFieldOfAResult: an edit whose result is an object of JSON with an error was not made, whatever its agent marks.
func TestAnErrorInAFieldOfAResult(t *testing.T) {
	for result, want := range map[string]toolcall.End{
		`{"kind":"StrReplaceEditorObservation","output":"","error":"Invalid new_str. No replacement was performed."}`: toolcall.Failed,
		`{"ok":true,"error":null}`:                                                       toolcall.OK,
		`{"ok":true,"error":""}`:                                                         toolcall.OK,
		`{"output":"The file has been edited. error handling"}`:                          toolcall.OK,
		`{"error":"cut`:                                                                  toolcall.OK,
		`{"error":{"message":"No replacement was performed"}}`:                           toolcall.Failed,
		`{"success":false,"message":"No replacement was performed"}`:                     toolcall.Failed,
		`{"isError":true,"content":[{"text":"No replacement was performed"}]}`:           toolcall.Failed,
		`{"success":true,"message":"error handling was replaced"}`:                       toolcall.OK,
		`{"output":"` + strings.Repeat("x", 70<<10) + `","error":"beyond what is read"}`: toolcall.OK,
	} {
		calls := toolcall.Find([]precis.Message{
			{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: "a", Name: "str_replace_editor", Input: []byte(`{"command":"str_replace","path":"/w/a.py","old_str":"a","new_str":"b"}`)}}},
			{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: "a", Content: []precis.Block{precis.Text{Text: result}}}}},
		})
		if got := calls[0].Outcome(); got.End != want || want == toolcall.Failed && !strings.Contains(got.Line, "No replacement") {
			t.Errorf("%.60s: %+v", result, got)
		}
	}
}

// TestTheLineOfAShellInAFailure: the heading of a download's progress is not why a command failed.
func TestTheLineOfAShellInAFailure(t *testing.T) {
	calls := toolcall.Find([]precis.Message{
		{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: "a", Name: "Bash", Input: []byte(`{"command":"curl -L https://h/m.zip -o m.zip && unzip -q m.zip && cp -r m/examples/* docs/"}`)}}},
		{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: "a", IsError: true, Content: []precis.Block{precis.Text{
			Text: "  % Total    % Received % Xferd  Average Speed\n                                 Dload  Upload   Total\n\r100 21.1M    0 21.1M    0     0  1078k\n(eval):1: no matches found: m/examples/*"}}}}},
	})
	if got := calls[0].Outcome(); got.End != toolcall.Failed || got.Line != "(eval):1: no matches found: m/examples/*" {
		t.Errorf("%+v", got)
	}
}
