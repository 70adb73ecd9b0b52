package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/condense"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/provider/providertest"
	"github.com/precis-dev/precis/wire/anthropic"
	"github.com/precis-dev/precis/wire/chat"
	"github.com/precis-dev/precis/wire/responses"
)

// liveBody is a client's request for a conversation in a dialect.
func liveBody(t *testing.T, dialect, model string, msgs []precis.Message) []byte {
	t.Helper()
	system := "You are an agent. " + strings.Repeat("Be careful with files. ", 100)
	var body string
	switch dialect {
	case "anthropic":
		list := string(anthropic.AppendMessages(nil, msgs))
		i := strings.LastIndex(list, `"tool_use_id"`) // a breakpoint on the last block, as clients set it
		list = list[:i] + `"cache_control":{"type":"ephemeral"},` + list[i:]
		body = fmt.Sprintf(`{"model":%q,"max_tokens":4000,"system":%q,"tools":[{"name":"Read","input_schema":{"type":"object"}}],"messages":%s,"stream":true}`, model, system, list)
	case "chat":
		list := string(chat.AppendMessages(nil, append([]precis.Message{precis.NewText(precis.RoleSystem, system)}, msgs...)))
		body = fmt.Sprintf(`{"model":%q,"messages":%s,"tools":[{"type":"function","function":{"name":"Read","parameters":{"type":"object"}}}],"stream":true,"stream_options":{"include_usage":true}}`, model, list)
	case "responses":
		list := string(responses.AppendMessages(nil, msgs))
		body = fmt.Sprintf(`{"model":%q,"instructions":%q,"input":%s,"tools":[{"type":"function","name":"Read","parameters":{"type":"object"}}],"store":false,"stream":true}`, model, system, list)
	}
	if !json.Valid([]byte(body)) {
		t.Fatalf("%s: %s", dialect, body)
	}
	return []byte(body)
}

// send sends a live request as a client does.
func send(t *testing.T, server *providertest.Server, dialect string, body []byte) {
	t.Helper()
	path := map[string]string{"anthropic": "/v1/messages", "chat": "/v1/chat/completions", "responses": "/v1/responses"}[dialect]
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("anthropic-version", "2023-06-01")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if answer, _ := io.ReadAll(resp.Body); resp.StatusCode != 200 {
		t.Fatalf("%s: %d %s", dialect, resp.StatusCode, answer)
	}
}

// TestRiding has a client send a conversation, and then condenses it: the summary
// request reads what the client's wrote into the prompt cache. The same by itself
// costs several times as much.
func TestRiding(t *testing.T) {
	for _, dialect := range []string{"anthropic", "chat", "responses"} {
		t.Run(dialect, func(t *testing.T) {
			server := providertest.New(t, providertest.Options{})
			server.SetDefault(providertest.Text(goodSummary))
			client := summarizer(t, server, dialect, time.Minute)
			conv := longWork()
			conv.Transcript = precis.NewTranscript(conv.Transcript.Messages()[:21]...)
			body := liveBody(t, dialect, client.Info().ID, conv.Transcript.Messages())
			send(t, server, dialect, body)
			if dialect == "anthropic" { // as a gateway holds them, breakpoints and all
				fields, err := jsonspan.Fields(body)
				if err != nil {
					t.Fatal(err)
				}
				msgs, err := anthropic.DecodeMessages(fields["messages"])
				if err != nil {
					t.Fatal(err)
				}
				conv.Transcript = precis.NewTranscript(msgs...)
			}

			cost := map[string]float64{}
			for _, live := range []*policy.LiveRequest{{Dialect: dialect, Model: client.Info().ID, Body: body}, nil} {
				m, err := preset.New(preset.Options{Settings: onlyCondense(t), Condensing: &preset.Condensing{Writer: condense.WriterConfig{Model: client}}})
				if err != nil {
					t.Fatal(err)
				}
				fresh := *conv
				res, err := m.Manage(t.Context(), policy.Request{Conversation: &fresh, Window: precis.Window{Tokens: 16_000}, TriggeredBy: precis.TriggeredManual, Live: live})
				if err != nil {
					t.Fatal(err)
				}
				call := stepOf(t, res, "condense").Call
				if call == nil || stepOf(t, res, "condense").Code != "" {
					t.Fatalf("%+v", stepOf(t, res, "condense"))
				}
				cost[call.Form] = call.CostUSD
				input := call.Usage.Input
				if dialect == "anthropic" {
					input += call.Usage.CacheRead + call.Usage.CacheWrite
				}
				if share := float64(call.Usage.CacheRead) / float64(input); live != nil && share < 0.85 {
					t.Errorf("%.2f of %d tokens were read from the cache", share, input)
				}
			}
			for _, p := range server.Problems() {
				t.Error("the API would refuse:", p)
			}
			if cost["cache"] <= 0 || cost["cache"] >= cost["compact"] {
				t.Errorf("riding costs $%.4f, by itself $%.4f", cost["cache"], cost["compact"])
			}
			t.Logf("%s: riding $%.4f, by itself $%.4f", dialect, cost["cache"], cost["compact"])
		})
	}
}

func onlyCondense(t *testing.T) policy.Settings {
	t.Helper()
	s, err := preset.Settings(preset.Balanced)
	if err != nil {
		t.Fatal(err)
	}
	s.Rungs = []string{"dedupe", "condense", "digest"}
	return s
}
