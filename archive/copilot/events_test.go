package copilot_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/archive/archivetest"
	"github.com/precis-dev/precis/archive/copilot"
)

// eventLines writes events, "TYPE {members of data}" each, a second apart.
func eventLines(list ...string) []byte {
	var b strings.Builder
	for i, e := range list {
		kind, data, _ := strings.Cut(e, " ")
		agent := ""
		if kind, agent, _ = strings.Cut(kind, "@"); agent != "" {
			agent = `"agentId":"` + agent + `",`
		}
		fmt.Fprintf(&b, `{"type":%q,"data":%s,%s"id":"e%d","timestamp":"2026-07-15T04:00:%02dZ","parentId":null}`+"\n", kind, data, agent, i, i)
	}
	return []byte(b.String())
}

var cli = eventLines(
	`session.start {"sessionId":"5b2c","version":1,"producer":"copilot-agent","selectedModel":"m","startTime":"2026-07-15T04:00:00Z","context":{"cwd":"/src/shed"}}`,
	`system.message {"role":"system","content":"You keep the shed."}`,
	`user.message {"content":"List the shed.","transformedContent":"<current_datetime>now</current_datetime>\n\nList the shed.\n\n<system_reminder>todos</system_reminder>"}`,
	`assistant.message {"messageId":"a","model":"m","content":"","reasoningText":"Look first.","reasoningOpaque":"sealed","toolRequests":[{"toolCallId":"c1","name":"bash","arguments":{"command":"ls"}},{"toolCallId":"c2","name":"task","arguments":{}}]}`,
	`tool.execution_start {"toolCallId":"c1","toolName":"bash","arguments":{"command":"ls"}}`,
	`tool.execution_complete {"toolCallId":"c1","success":true,"result":{"content":"rake","detailedContent":"rake in full"}}`,
	`assistant.message@c2 {"parentToolCallId":"c2","content":"I am the helper.","toolRequests":[]}`,
	`tool.execution_complete {"toolCallId":"c2","success":false,"error":{"message":"no helper","code":"failure"}}`,
	`session.compaction_start {"model":"m"}`,
	`assistant.message {"messageId":"b","content":"A rake.","toolRequests":[]}`,
	`session.compaction_complete {"success":true,"preCompactionTokens":900,"summaryContent":"The shed was listed."}`,
	`user.message {"content":"Sweep it.","transformedContent":"Sweep it."}`,
	`session.model_change {"newModel":"n"}`,
	`session.shutdown {"modelMetrics":{"m":{"requests":{"count":3},"usage":{"inputTokens":100,"cacheReadTokens":60,"cacheWriteTokens":30,"outputTokens":7}}}}`,
)

var cliSamples = map[string][]byte{"events.jsonl": cli}

func TestCLISuite(t *testing.T) { archivetest.Run(t, copilot.CLI{}, cliSamples) }

func FuzzCLI(f *testing.F) { archivetest.Fuzz(f, copilot.CLI{}, cliSamples) }

func readCLI(t *testing.T, data []byte) *archive.Recording {
	t.Helper()
	r, err := archive.Read(archive.Source{Path: "events.jsonl", Data: data}, []archive.Format{copilot.CLI{}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// texts returns the view of a conversation, each message as role:text.
func texts(c *precis.Conversation) string {
	var out []string
	for _, m := range precis.View(c.Transcript, c.Edits) {
		text := string(m.Role[:1]) + ":"
		for _, b := range m.Content {
			switch b := b.(type) {
			case precis.Text:
				text += strings.TrimSpace(b.Text)
			case precis.Thinking:
				text += "(" + b.Text + ")"
			case precis.ToolUse:
				text += " " + b.ID + "=" + b.Name
			case precis.ToolResult:
				text += fmt.Sprintf("%s=%s%t", b.ToolUseID, b.Text(), b.IsError)
			}
		}
		out = append(out, text)
	}
	return strings.Join(out, "\n")
}

func TestCLI(t *testing.T) {
	r := readCLI(t, cli)
	c, o := r.Conversation, r.Origin
	if want := "u:The shed was listed.\na:A rake.\nu:Sweep it."; texts(c) != want {
		t.Errorf("the view is %q, want %q", texts(c), want)
	}
	whole := *c
	whole.Edits = nil
	if want := "u:<current_datetime>now</current_datetime>List the shed.<system_reminder>todos</system_reminder>\na:(Look first.) c1=bash c2=task\nu:c1=rakefalse\nu:c2=no helpertrue\na:A rake.\nu:Sweep it."; texts(&whole) != want {
		t.Errorf("it was said %q, want %q", texts(&whole), want)
	}
	if typed := c.Transcript.At(0).UserBlocks(); len(typed) != 1 || typed[0] != 1 {
		t.Errorf("typed: %v", typed)
	}
	if c.ID != "5b2c" || c.Model != "n" || c.System.PlainText() != "You keep the shed." || o.Project != "/src/shed" || o.Begun.IsZero() || len(c.Branches) != 1 || texts(c.Branches[0]) != "a:I am the helper." {
		t.Errorf("%+v of %+v", c, o)
	}
	if len(o.Spent) != 1 || o.Spent[0].Requests != 3 || o.Spent[0].Usage != (precis.Usage{Input: 10, Output: 7, CacheRead: 60, CacheWrite: 30}) {
		t.Errorf("spent %+v", o.Spent)
	}
}

// What the user took back is a branch; what was left out without a name is warned of.
func TestCLITakesBack(t *testing.T) {
	start, hi := `session.start {"sessionId":"s"}`, `user.message {"content":"Hi."}`
	r := readCLI(t, eventLines(start, hi, `assistant.message {"content":"Hello."}`, `user.message {"content":"No."}`, `session.snapshot_rewind {"upToEventId":"e2","eventsRemoved":2}`, `user.message {"content":"Go on."}`))
	if c := r.Conversation; texts(c) != "u:Hi.\nu:Go on." || len(c.Branches) != 1 || texts(c.Branches[0]) != "u:Hi.\na:Hello.\nu:No." || c.Branches[0].ID != "s/e2" {
		t.Errorf("%q, %+v", texts(c), c.Branches)
	}
	r = readCLI(t, eventLines(start, hi, `session.snapshot_rewind {"upToEventId":"e9"}`, `session.truncation {"messagesRemovedDuringTruncation":3}`, `session.compaction_complete {"success":false,"summaryContent":"x"}`, "assistant.message {\"content\":\"\"}", `user.message {"content":7}`))
	if len(r.Warnings) != 3 || r.Skipped != 1 || texts(r.Conversation) != "u:Hi." {
		t.Errorf("%v, %q", r.Warnings, texts(r.Conversation))
	}
}
