package taubench

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/archive/archivetest"
)

const old = `{"task_id": 7, "reward": 1.0, "trial": 0, "traj": [
 {"role": "system", "content": "Policy."},
 {"role": "user", "content": "Cancel my order"},
 {"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "find", "arguments": "{\"id\": 1}"}}]},
 {"role": "tool", "tool_call_id": "c1", "name": "find", "content": "found"},
 {"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "cancel", "arguments": "{}"}}]},
 {"role": "tool", "tool_call_id": "c1", "name": "cancel", "content": "canceled"},
 {"role": "assistant", "content": "Done."}]}`

const tau2 = `{"id": "sim-1", "task_id": "9", "reward_info": {}, "messages": [
 {"role": "assistant", "content": "Hi!", "tool_calls": null, "turn_idx": 0, "timestamp": "2025-10-31T07:36:35.5"},
 {"role": "user", "content": "My phone is dead", "tool_calls": null, "turn_idx": 1},
 {"role": "assistant", "content": null, "tool_calls": [{"id": "a", "name": "look", "arguments": {"x": 1}, "requestor": "assistant"}, {"id": "b", "name": "look", "arguments": {"x": 2}, "requestor": "assistant"}], "raw_data": {"model": "m-1"}},
 {"role": "tool", "tool_messages": [{"id": "a", "role": "tool", "content": "one", "requestor": "assistant"}, {"id": "b", "role": "tool", "content": "two", "requestor": "assistant", "error": true}]},
 {"role": "user", "content": null, "tool_calls": [{"id": "u", "name": "toggle", "arguments": {"on": true}, "requestor": "user"}]},
 {"id": "u", "role": "tool", "content": "toggled", "requestor": "user"},
 {"role": "assistant", "content": "", "tool_calls": null}]}`

var samples = map[string][]byte{
	"old.json": []byte(old), "tau2.json": []byte(tau2), "list.json": []byte("[" + old + "," + tau2 + "]"),
	"results.json": []byte(`{"timestamp": "t", "info": {"agent_info": {"llm": "m-2"}}, "simulations": [` + old + "]}"),
}

func TestSuite(t *testing.T) { archivetest.Run(t, Format{}, samples) }

func FuzzRead(f *testing.F) { archivetest.Fuzz(f, Format{}, samples) }

func read(t *testing.T, data string) *archive.Recording {
	t.Helper()
	r, err := Format{}.Read(archive.Source{Data: []byte(data)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestOld(t *testing.T) {
	c := read(t, old).Conversation
	if c.System.PlainText() != "Policy." || c.Title != "task 7" || c.Transcript.Len() != 6 {
		t.Errorf("system %q, title %q, %d messages", c.System.PlainText(), c.Title, c.Transcript.Len())
	}
	if b := precis.Check(c.Transcript.Messages()); len(b) > 0 {
		t.Errorf("an ID that came twice was kept: %v", b)
	}
	use, result := c.Transcript.At(3).Content[0].(precis.ToolUse), c.Transcript.At(4).Content[0].(precis.ToolResult)
	if use.ID != "c1_2" || result.ToolUseID != use.ID || string(use.Input) != "{}" {
		t.Errorf("second call %+v, answered as %q", use, result.ToolUseID)
	}
}

func TestTau2(t *testing.T) {
	r := read(t, tau2)
	c := r.Conversation
	if c.ID != "sim-1" || c.Model != "m-1" || c.Transcript.At(0).Time.Nanosecond() != 5e8 || r.Ignored != 1 {
		t.Errorf("id %q, model %q, time %v, %d ignored", c.ID, c.Model, c.Transcript.At(0).Time, r.Ignored)
	}
	if b := precis.Check(c.Transcript.Messages()[1:]); len(b) > 0 {
		t.Error(b)
	}
	if r := c.Transcript.At(4).Content[0].(precis.ToolResult); r.ToolUseID != "b" || !r.IsError || r.Text() != "two" {
		t.Errorf("bundled result %+v", r)
	}
	call, back := c.Transcript.At(5), c.Transcript.At(6)
	if !strings.Contains(call.PlainText(), `toggle] {"on": true}`) || !strings.Contains(back.PlainText(), "toggled") || back.HasToolResult() {
		t.Errorf("the user's own call: %q, %q", call.PlainText(), back.PlainText())
	}
}

func TestLists(t *testing.T) {
	c := read(t, string(samples["list.json"])).Conversation
	if c.Title != "task 7" || len(c.Branches) != 1 || c.Branches[0].ID != "sim-1" {
		t.Errorf("main %q, branches %v", c.Title, c.Branches)
	}
	if c := read(t, string(samples["results.json"])).Conversation; c.Model != "m-2" {
		t.Errorf("model %q", c.Model)
	}
}

func TestNot(t *testing.T) {
	for _, data := range []string{
		`{"system": "s", "messages": [{"role": "user", "content": "hi"}]}`, `[{"role": "user", "content": "hi"}]`,
		`{"task_id": 1, "messages": [{"role": "user", "content": "hi"}]}`, `{"messages": [{"role": "system", "content": "x"}], "info": {"mini_version": "2"}}`,
	} {
		if (Format{}).Detect("x.json", []byte(data)) {
			t.Errorf("Detect(%s)", data)
		}
	}
}

func TestMalformed(t *testing.T) {
	for data, place := range map[string]string{
		`{"task_id": 1, "traj": [{"role": "user", "content": 5}]}`:            "message at byte 24",
		`[{"task_id": 1, "traj": [{"role": "user", "content": "x"}, {}]}]`:    "simulation 0, message at byte 59",
		`{"task_id": 1, "traj": [{"role": "user", "content": "x"}]} trailing`: "byte",
	} {
		_, err := Format{}.Read(archive.Source{Data: []byte(data)})
		if precis.CodeOf(err) != precis.CodeInvalid || !strings.Contains(err.Error(), place) {
			t.Errorf("%s: error %v, want invalid at %q", data, err, place)
		}
	}
}

func TestRecordings(t *testing.T) {
	dir := os.Getenv("PRECIS_TRANSCRIPTS")
	if dir == "" {
		t.Skip("PRECIS_TRANSCRIPTS names no directory of recordings")
	}
	files, _ := filepath.Glob(filepath.Join(dir, "openai-chat", "*.json"))
	for _, path := range files {
		r, err := archive.Open(path, []archive.Format{Format{}})
		if err != nil {
			t.Error(err)
			continue
		}
		if err := archivetest.Check(r); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if b := precis.Check(r.Conversation.Transcript.Messages()); len(b) > 1 {
			t.Errorf("%s: %v", path, b)
		}
	}
}
