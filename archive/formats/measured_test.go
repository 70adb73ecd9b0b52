package formats_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/archive/formats"
)

// What the provider counted for the newest request on the path that was taken is known, with
// the messages that were sent: the answer is not among them.
func TestMeasured(t *testing.T) {
	for name, c := range map[string]struct {
		file, data string
		want       precis.Measured
		window     int
	}{
		"Claude Code": {"a.jsonl", `{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"Look."}}
{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s","message":{"id":"m1","role":"assistant","model":"c","content":[{"type":"text","text":"I look."}],"usage":{"input_tokens":1,"output_tokens":1}}}
{"type":"assistant","uuid":"a2","parentUuid":"a1","sessionId":"s","message":{"id":"m1","role":"assistant","model":"c","content":[{"type":"text","text":"Done."}],"usage":{"input_tokens":3,"output_tokens":9,"cache_read_input_tokens":700,"cache_creation_input_tokens":40}}}
{"type":"user","uuid":"u2","parentUuid":"a2","sessionId":"s","message":{"role":"user","content":"And?"}}
{"type":"assistant","uuid":"a3","parentUuid":"u2","sessionId":"s","isSidechain":true,"agentId":"b","message":{"id":"m2","role":"assistant","model":"c","content":[{"type":"text","text":"Beside."}],"usage":{"input_tokens":90000}}}
{"type":"assistant","uuid":"a4","parentUuid":"u2","sessionId":"s","message":{"id":"m3","role":"assistant","model":"<synthetic>","content":[{"type":"text","text":"No credit."}],"usage":{"input_tokens":0,"output_tokens":0}}}
`, precis.Measured{Messages: 1, Tokens: 743}, 0},
		"Claude Code, a path that was left": {"a.jsonl", `{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"Look."}}
{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s","message":{"id":"m1","role":"assistant","model":"c","content":[{"type":"text","text":"Left."}],"usage":{"input_tokens":5000}}}
{"type":"user","uuid":"u2","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"Look again."}}
{"type":"assistant","uuid":"a2","parentUuid":"u2","sessionId":"s","message":{"id":"m2","role":"assistant","model":"c","content":[{"type":"text","text":"Taken."}],"usage":{"input_tokens":600}}}
`, precis.Measured{Messages: 1, Tokens: 600}, 0},
		"Codex": {"rollout-a.jsonl", `{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"s","timestamp":"2026-01-01T00:00:00Z","cwd":"/p"}}
{"timestamp":"2026-01-01T00:00:00Z","type":"event_msg","payload":{"type":"task_started","model_context_window":258400}}
{"timestamp":"2026-01-01T00:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Look."}]}}
{"timestamp":"2026-01-01T00:00:02Z","type":"response_item","payload":{"type":"reasoning","summary":[],"encrypted_content":"QUJD"}}
{"timestamp":"2026-01-01T00:00:02Z","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{}","call_id":"c1"}}
{"timestamp":"2026-01-01T00:00:03Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":900,"cached_input_tokens":400,"output_tokens":9},"last_token_usage":{"input_tokens":900,"cached_input_tokens":400,"output_tokens":9},"model_context_window":258400}}}
{"timestamp":"2026-01-01T00:00:04Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"ok"}}
`, precis.Measured{Messages: 1, Tokens: 900}, 258_400},
		"pi": {"a.jsonl", `{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00Z","cwd":"/p"}
{"type":"message","id":"1","parentId":null,"timestamp":"2026-01-01T00:00:01Z","message":{"role":"user","content":"Look."}}
{"type":"message","id":"2","parentId":"1","timestamp":"2026-01-01T00:00:02Z","message":{"role":"assistant","model":"c","content":[{"type":"text","text":"Left."}],"usage":{"input":8000,"output":1,"cacheRead":0,"cacheWrite":0}}}
{"type":"message","id":"3","parentId":"1","timestamp":"2026-01-01T00:00:03Z","message":{"role":"assistant","model":"c","content":[{"type":"text","text":"Taken."}],"usage":{"input":5,"output":1,"cacheRead":60,"cacheWrite":700}}}
`, precis.Measured{Messages: 1, Tokens: 765}, 0},
		"Qwen Code": {"a.jsonl", `{"uuid":"1","parentUuid":null,"sessionId":"q","timestamp":"2026-01-01T00:00:00Z","type":"user","cwd":"/p","message":{"role":"user","parts":[{"text":"Look."}]}}
{"uuid":"2","parentUuid":"1","sessionId":"q","timestamp":"2026-01-01T00:00:01Z","type":"assistant","model":"qwen3","message":{"role":"model","parts":[{"text":"Done."}]},"usageMetadata":{"promptTokenCount":500,"candidatesTokenCount":5,"cachedContentTokenCount":20}}
`, precis.Measured{Messages: 1, Tokens: 500}, 0},
		"opencode": {"a.json", `{"info":{"id":"s"},"messages":[{"info":{"id":"m1","role":"user"},"parts":[{"type":"text","text":"Look."}]},
{"info":{"id":"m2","role":"assistant","modelID":"c","tokens":{"input":6,"output":2,"reasoning":1,"cache":{"read":300,"write":4}}},"parts":[{"type":"text","text":"Done."}]}]}`, precis.Measured{Messages: 1, Tokens: 310}, 0},
		"Gemini CLI": {"session-a.json", `{"sessionId":"s","projectHash":"h","messages":[{"id":"1","timestamp":"2026-01-01T00:00:00Z","type":"user","content":"Look."},{"id":"2","timestamp":"2026-01-01T00:00:01Z","type":"gemini","model":"g","content":"Done.","tokens":{"input":400,"output":4,"cached":10}}]}`,
			precis.Measured{Messages: 1, Tokens: 400}, 0},
		"Cline": {"a.messages.json", `{"version":1,"updated_at":"2026-01-01T00:00:00Z","agent":"lead","sessionId":"s","messages":[{"id":"m1","role":"user","content":"Look."},{"id":"m2","role":"assistant","content":"Done.","modelInfo":{"id":"m"},"metrics":{"inputTokens":100,"outputTokens":9,"cacheReadTokens":60,"cacheWriteTokens":10}}]}`,
			precis.Measured{Messages: 1, Tokens: 100}, 0},
		"a task of Roo Code": {"ui_messages.json", `[{"ts":1,"type":"say","say":"text","text":"Look."},{"ts":2,"type":"say","say":"api_req_started","text":"{\"tokensIn\":300,\"tokensOut\":20,\"cacheReads\":100}"}]`,
			precis.Measured{Messages: 1, Tokens: 300}, 0},
		"a task of Cline": {"ui_messages.json", `[{"ts":1,"type":"say","say":"text","text":"Look."},{"ts":2,"type":"say","say":"api_req_started","text":"{\"tokensIn\":3,\"tokensOut\":20,\"cacheReads\":1000,\"cacheWrites\":50}"}]`,
			precis.Measured{Messages: 1, Tokens: 1053}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), c.file)
			write := func(path, data string) {
				if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write(path, c.data)
			if c.file == "ui_messages.json" { // a task is a folder
				path = filepath.Dir(path)
				write(filepath.Join(path, "api_conversation_history.json"), `[{"role":"user","content":[{"type":"text","text":"<task>Look.</task>"}]},{"role":"assistant","content":[{"type":"text","text":"Done."}]}]`)
			}
			src, err := formats.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			rec, err := archive.Read(src, formats.All())
			if err != nil {
				t.Fatal(err)
			}
			if o := rec.Origin; o.Measured != c.want || o.Window != c.window {
				t.Errorf("%s: %+v, window %d, want %+v, %d", rec.Format, o.Measured, o.Window, c.want, c.window)
			}
			if rec.Conversation.Measured != (precis.Measured{}) {
				t.Error("a reader decides what the sizes are")
			}
		})
	}
}
