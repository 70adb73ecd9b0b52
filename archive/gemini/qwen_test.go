package gemini

import (
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/archive/archivetest"
)

const qwenLog = `{"uuid":"1","parentUuid":null,"sessionId":"q-1","timestamp":"2026-01-01T00:00:00Z","type":"user","cwd":"/src/mole","message":{"role":"user","parts":[{"text":"Measure the mole"}]}}
{"uuid":"2","parentUuid":"1","sessionId":"q-1","timestamp":"2026-01-01T00:00:01Z","type":"assistant","model":"qwen3","message":{"role":"model","parts":[{"text":"I think","thought":true},{"text":"Measuring."},{"functionCall":{"id":"c1","name":"run","args":{"x":1}}}]},"usageMetadata":{"promptTokenCount":50,"candidatesTokenCount":5,"cachedContentTokenCount":20}}
{"uuid":"3","parentUuid":"2","sessionId":"q-1","timestamp":"2026-01-01T00:00:02Z","type":"tool_result","message":{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"run","response":{"output":"forty yards"}}}]}}
{"uuid":"4","parentUuid":"3","sessionId":"q-1","timestamp":"2026-01-01T00:00:03Z","type":"assistant","model":"qwen3","message":{"role":"model","parts":[{"text":"Forty yards."}]}}
{"uuid":"5","parentUuid":"4","sessionId":"q-1","timestamp":"2026-01-01T00:00:04Z","type":"user","message":{"role":"user","parts":[{"text":"And the pier?"}]}}
{"uuid":"6","parentUuid":"5","sessionId":"q-1","timestamp":"2026-01-01T00:00:05Z","type":"system","subtype":"chat_compression","systemPayload":{"info":{"originalTokenCount":900,"newTokenCount":90},"compressedHistory":[{"role":"user","parts":[{"text":"Summary: the mole is forty yards."}]},{"role":"model","parts":[{"text":"Got it."}]},{"role":"user","parts":[{"text":"And the pier?"}]}]}}
{"uuid":"7","parentUuid":"6","sessionId":"q-1","timestamp":"2026-01-01T00:00:06Z","type":"assistant","model":"qwen3","message":{"role":"model","parts":[{"text":"Ten yards."}]}}
`

var qwenSamples = map[string][]byte{"q.jsonl": []byte(qwenLog)}

func TestQwenSuite(t *testing.T) { archivetest.Run(t, Qwen{}, qwenSamples) }

func FuzzReadQwen(f *testing.F) { archivetest.Fuzz(f, Qwen{}, qwenSamples) }

func TestQwen(t *testing.T) {
	r, err := Qwen{}.Read(archive.Source{Data: []byte(qwenLog)})
	if err != nil {
		t.Fatal(err)
	}
	c, o := r.Conversation, r.Origin
	if c.ID != "q-1" || c.Model != "qwen3" || o.Project != "/src/mole" || c.Transcript.Len() != 6 || len(r.Warnings) > 0 {
		t.Fatalf("%q %q %+v, %d messages, %v", c.ID, c.Model, o, c.Transcript.Len(), r.Warnings)
	}
	if sp := o.Spent[0]; sp.Usage != (precis.Usage{Input: 30, Output: 5, CacheRead: 20}) || sp.Requests != 1 {
		t.Errorf("spent %+v", sp)
	}
	if len(c.Edits) != 1 || c.Edits[0].Report.TokensBefore != 900 {
		t.Fatalf("edits %+v", c.Edits)
	}
	view := precis.View(c.Transcript, c.Edits)
	if len(view) != 4 {
		t.Fatalf("the view is %+v", view)
	}
	if b, ok := view[2].Content[0].(precis.Text); !ok || b.Text != "And the pier?" {
		t.Errorf("the kept message is %+v", view[2])
	}
}
