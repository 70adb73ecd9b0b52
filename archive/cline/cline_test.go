package cline

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/archive/archivetest"
)

const sample = `{"version":1,"updated_at":"2026-03-08T10:00:00Z","agent":"lead","sessionId":"s-1","origin":{"source":"cli"},"messages":[
 {"id":"m1","role":"user","content":[{"type":"text","text":"<user_input mode=\"act\">Coil the rope</user_input>"}],"ts":1772964000000},
 {"id":"m2","role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Reading."},{"type":"tool_use","id":"t1","name":"read_files","input":{"files":[{"path":"rope.go"}]}}],"ts":1772964001000,"modelInfo":{"id":"claude-sonnet-4-5","provider":"p"},"metrics":{"inputTokens":100,"outputTokens":9,"cacheReadTokens":60,"cacheWriteTokens":10,"cost":0.5}},
 {"id":"m3","role":"user","content":[{"type":"tool_result","tool_use_id":"t1","name":"read_files","content":[{"query":"rope.go","result":"1 | rope","success":true},{"query":"knot.go","error":"no such file","success":false},{"type":"text","text":"plain"},{"odd":1}]}],"ts":1772964002000},
 {"id":"m4","role":"assistant","content":"Coiled."}],"system_prompt":"You sail."}`

var samples = map[string][]byte{"s-1.messages.json": []byte(sample)}

func TestSuite(t *testing.T) { archivetest.Run(t, Format{}, samples) }

func FuzzRead(f *testing.F) { archivetest.Fuzz(f, Format{}, samples) }

func TestRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s-1.messages.json")
	about := `{"cwd":"/src/rope","status":"completed","started_at":"2026-03-08T09:59:00Z","metadata":{"title":"Coil"}}`
	if err := os.WriteFile(filepath.Join(dir, "s-1.json"), []byte(about), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Format{}.Read(archive.Source{Path: path, Data: []byte(sample)})
	if err != nil {
		t.Fatal(err)
	}
	c, o := r.Conversation, r.Origin
	if c.ID != "s-1" || c.Title != "Coil" || c.Model != "claude-sonnet-4-5" || !c.HasSystem() || o.Project != "/src/rope" || o.State != "completed" || o.Begun.IsZero() {
		t.Errorf("%q %q %q, %+v", c.ID, c.Title, c.Model, o)
	}
	if sp := o.Spent[0]; sp.CostUSD != 0.5 || sp.Usage != (precis.Usage{Input: 30, Output: 9, CacheRead: 60, CacheWrite: 10}) {
		t.Errorf("spent %+v", sp)
	}
	answer := c.Transcript.At(2).Content[0].(precis.ToolResult)
	var texts []string
	for _, b := range answer.Content {
		texts = append(texts, b.(precis.Text).Text)
	}
	if got := strings.Join(texts, "|"); got != `1 | rope|no such file|plain|{"odd":1}` || !answer.IsError || answer.ToolUseID != "t1" {
		t.Errorf("the result is %q, error %v", got, answer.IsError)
	}
}

func TestResultsWithoutAnIDHaveOne(t *testing.T) {
	data := `{"updated_at":"x","messages":[{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"read","input":{}}]},{"role":"user","content":[{"type":"tool_result","content":"text"}]}]}`
	r, err := Format{}.Read(archive.Source{Data: []byte(data)})
	if err != nil {
		t.Fatal(err)
	}
	if answer := r.Conversation.Transcript.At(1).Content[0].(precis.ToolResult); answer.ToolUseID == "" {
		t.Error("the result has no ID")
	}
}

func TestDescriptionThatIsMalformed(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "s-1.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Format{}.Read(archive.Source{Path: filepath.Join(dir, "s-1.messages.json"), Data: []byte(sample)})
	if err != nil || len(r.Warnings) != 1 {
		t.Errorf("%v, %v", err, r)
	}
}
