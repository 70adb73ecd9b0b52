package workstate_test

import (
	"encoding/json"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/workstate"
)

// An agent of which its result only says that it was started goes on, under the name that it was given, until a later call
// that names it says otherwise. What it says on the way is its newest result.
func TestAnAgentThatWasOnlyStarted(t *testing.T) {
	item := func(raw string) precis.Message {
		var of struct{ Type string }
		_ = json.Unmarshal([]byte(raw), &of)
		return precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{precis.Opaque{Type: of.Type, Raw: json.RawMessage(raw)}}}
	}
	msgs := []precis.Message{
		item(`{"type":"multi_agent_call","id":"a1","call_id":"a1","action":"spawn_agent","arguments":"{\"agent_name\":\"otter\",\"message\":\"Count the crabs\"}"}`),
		item(`{"type":"multi_agent_call_output","id":"o1","call_id":"a1","output":[{"type":"output_text","text":"otter started."}]}`),
		item(`{"type":"agent_message","id":"n1","author":"otter","recipient":"root","content":[{"type":"input_text","text":"12 so far"}]}`),
		item(`{"type":"multi_agent_call","id":"a2","call_id":"a2","action":"wait_agent","arguments":"{\"agent_name\":\"otter\"}"}`),
		item(`{"type":"multi_agent_call_output","id":"o2","call_id":"a2","output":[{"type":"output_text","text":"40 crabs in all"}]}`),
	}
	for n, want := range map[int]string{2: "running: ", 3: "running: 12 so far", 5: "done: 40 crabs in all"} {
		jobs := workstate.Of(&precis.Conversation{Transcript: precis.NewTranscript(msgs[:n]...)}).Jobs
		if len(jobs) != 1 || string(jobs[0].State)+": "+jobs[0].Result != want || jobs[0].ID != "otter" || jobs[0].Text != "Count the crabs" {
			t.Errorf("%d messages: %+v", n, jobs)
		}
	}
}
