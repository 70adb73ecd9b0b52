package retain_test

import (
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/retain"
)

// The texts of a conversation are without what programs write around them: a script is the calls that it makes, an envelope what
// it holds, and a list of tools that a program registers is none.
func TestTextsWithoutFrames(t *testing.T) {
	var msgs []precis.Message
	call := func(name, input string, results ...string) {
		r := precis.ToolResult{ToolUseID: name}
		for _, text := range results {
			r.Content = append(r.Content, precis.Text{Text: text})
		}
		msgs = append(msgs, precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: name, Name: name, Input: []byte(input)}}},
			precis.Message{Role: precis.RoleUser, Content: []precis.Block{r}})
	}
	call("exec", `"const [a, b] = await Promise.all([tools.exec_command({cmd: \"cat day.go\"}), tools.weigh({parcel: \"P-12\"})]); text(a); text(b);"`,
		"Script completed\nWall time 0.7 seconds\nOutput:\n", `{"chunk_id":"d1","wall_time_seconds":0.1,"exit_code":0,"original_token_count":9,"output":"func closeDay()\nreturn"}`)
	call("search_tools", `{"words": "parcel"}`, `<tools>{"name": "weighParcel", "description": "Weighs."}</tools>`)
	var got []string
	for _, text := range retain.Read("", msgs).Texts {
		got = append(got, text.Body)
	}
	want := "exec_command cat day.go|weigh P-12|func closeDay()\nreturn|search_tools parcel"
	if strings.Join(got, "|") != want {
		t.Errorf("got  %q\nwant %q", strings.Join(got, "|"), want)
	}
}

// Of a refusal the words of the user are a text, and what the program writes around them is none.
func TestARefusalWithoutItsFrame(t *testing.T) {
	const frame = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). "
	for _, tt := range []struct{ result, want string }{
		{frame + "To tell you how to proceed, the user said:\nkeep day_table", "user: keep day_table"},
		{frame + "STOP what you are doing and wait for the user to tell you how to proceed.", ""},
	} {
		msgs := []precis.Message{
			precis.NewText(precis.RoleUser, "<system-reminder>\nToday's date is 2026-11-20.\n</system-reminder>"),
			{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: "a", Name: "Edit", Input: []byte(`{"file_path":"day.go","old_string":"a","new_string":"b"}`)}}},
			{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: "a", IsError: true, Content: []precis.Block{precis.Text{Text: tt.result}}}}},
		}
		got := ""
		for _, text := range retain.Read("", msgs).Texts {
			if text.Handle.From == 2 {
				got += text.Source.String() + ": " + text.Body
			}
		}
		if got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}
