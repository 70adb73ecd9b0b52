package anthropic_test

import (
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/wire"
	"github.com/precis-dev/precis/wire/anthropic"
)

// TestUsageOfCompactions: where the API compacted before it answered, all iterations are billed, and the window held the answer's input.
func TestUsageOfCompactions(t *testing.T) {
	const usage = `{"input_tokens":1000,"output_tokens":100,"cache_read_input_tokens":10,"iterations":[` +
		`{"type":"compaction","input_tokens":50000,"output_tokens":2000,"cache_creation_input_tokens":7,"cache_creation":{"ephemeral_1h_input_tokens":5}},` +
		`{"type":"message","input_tokens":1000,"output_tokens":100,"cache_read_input_tokens":10}]}`
	want := precis.Usage{Input: 51_000, Output: 2100, CacheRead: 10, CacheWrite: 7, CacheWriteHour: 5}
	for name, events := range map[string][]string{
		"a message": {`{"type":"message","usage":` + usage + `}`},
		"a stream":  {`{"type":"message_start","message":{"usage":{"input_tokens":1000,"output_tokens":1}}}`, `{"type":"message_delta","usage":` + usage + `}`},
		"twice":     {`{"type":"message_delta","usage":` + usage + `}`, `{"type":"message_delta","usage":` + usage + `}`},
	} {
		var r wire.Response
		for _, e := range events {
			anthropic.Dialect{}.Observe(&r, []byte(e))
		}
		if r.Usage != want || r.Input != 1010 {
			t.Errorf("%s: %+v, input %d", name, r.Usage, r.Input)
		}
	}
	var r wire.Response
	anthropic.Dialect{}.Observe(&r, []byte(`{"type":"message","usage":{"input_tokens":5,"iterations":[{"input_tokens":1e300,"output_tokens":-7}]}}`))
	if r.Usage != (precis.Usage{}) || r.Input != 5 {
		t.Errorf("numbers that cannot be: %+v, input %d", r.Usage, r.Input)
	}
}
