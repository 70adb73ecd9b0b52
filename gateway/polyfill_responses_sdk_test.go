//go:build sdk

package gateway_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/gateway/polyfill"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/provider/providertest"
	"github.com/precis-dev/precis/store/memory"
)

// session is an SDK client of the gateway that holds one conversation over the
// Responses API, every item by itself.
type session struct {
	t      *testing.T
	api    openai.Client
	stream bool
	params responses.ResponseNewParams
	items  []responses.ResponseInputItemUnionParam
}

func newSession(t *testing.T, base string, stream bool, threshold int64) *session {
	c := &session{t: t, stream: stream, api: openai.NewClient(option.WithBaseURL(base+"/v1"), option.WithAPIKey("k"), option.WithMaxRetries(0))}
	c.params = responses.ResponseNewParams{
		Model: "gpt-5.1", Store: openai.Bool(false), Instructions: openai.String("Be brief."),
		Tools: []responses.ToolUnionParam{responses.ToolParamOfFunction("read", map[string]any{"type": "object"}, false)},
	}
	if threshold > 0 {
		c.params.ContextManagement = []responses.ResponseNewParamsContextManagement{{Type: "compaction", CompactThreshold: openai.Int(threshold)}}
	}
	return c
}

func userItem(text string) responses.ResponseInputItemUnionParam {
	return responses.ResponseInputItemParamOfMessage(text, responses.EasyInputMessageRoleUser)
}

// back turns output items into input, byte for byte.
func back(items []responses.ResponseOutputItemUnion) (out []responses.ResponseInputItemUnionParam) {
	for _, it := range items {
		out = append(out, param.Override[responses.ResponseInputItemUnionParam](json.RawMessage(it.RawJSON())))
	}
	return out
}

// send sends the conversation and returns the items of the answer.
func (c *session) send() []responses.ResponseOutputItemUnion {
	c.t.Helper()
	c.params.Input = responses.ResponseNewParamsInputUnion{OfInputItemList: c.items}
	if !c.stream {
		r, err := c.api.Responses.New(c.t.Context(), c.params)
		if err != nil {
			c.t.Fatal(err)
		}
		return r.Output
	}
	events := c.api.Responses.NewStreaming(c.t.Context(), c.params)
	var done []responses.ResponseOutputItemUnion
	var whole *responses.Response
	number := int64(0)
	for events.Next() {
		e := events.Current()
		if e.SequenceNumber != number {
			c.t.Fatalf("event %d has number %d: %s", number, e.SequenceNumber, e.RawJSON())
		}
		number++
		switch e.Type {
		case "response.output_item.done":
			if e.OutputIndex != int64(len(done)) {
				c.t.Fatalf("item %d has index %d", len(done), e.OutputIndex)
			}
			done = append(done, e.Item)
		case "response.output_text.delta":
			if e.OutputIndex != int64(len(done)) {
				c.t.Fatalf("a piece of item %d has index %d", len(done), e.OutputIndex)
			}
		case "response.completed":
			whole = &e.Response
		}
	}
	if events.Err() != nil || whole == nil || len(whole.Output) != len(done) {
		c.t.Fatal(events.Err(), whole, done)
	}
	return whole.Output
}

func (c *session) say(text string) []responses.ResponseOutputItemUnion {
	c.t.Helper()
	c.items = append(c.items, userItem(text))
	out := c.send()
	c.items = append(c.items, back(out)...)
	return out
}

func TestItemsAreCompactedOverManyTurns(t *testing.T) {
	sequential(t)
	t.Parallel()
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprint("stream=", stream), func(t *testing.T) {
			s := providertest.New(t, providertest.Options{})
			base, _ := start(t, s.URL, window(1_000_000))
			c := newSession(t, base, stream, 2500)
			var before string
			compacted, changed := 0, 0
			for n := range 30 {
				s.Enqueue(providertest.Text(fmt.Sprintf("Answer %d.", n)))
				out := c.say(fmt.Sprintf("Question %d about ALPHA-%d. %s", n, n, words(12, n)))
				if text := out[len(out)-1].Content[0].Text; text != fmt.Sprintf("Answer %d.", n) {
					t.Fatalf("turn %d: %q", n, text)
				}
				if len(out) == 2 {
					compacted++
					item := out[0].AsCompaction()
					if sum, ok := polyfill.Unseal(item.EncryptedContent); !ok || sum.Text == "" || sum.Messages == 0 || !strings.HasPrefix(item.ID, "cmp_") {
						t.Fatalf("turn %d: %s", n, item.RawJSON())
					}
				}
				sent := string(last(s).Body)
				list := string(jsonspan.Field([]byte(sent), "input"))
				if strings.Contains(sent, "compaction") || strings.Contains(sent, "context_management") || !strings.Contains(list, fmt.Sprintf("Question %d about", n)) || len(list) > 20_000 {
					t.Fatalf("turn %d: %d compactions, sent %s", n, compacted, sent)
				}
				if open := strings.TrimSuffix(list, "]"); before != "" && !strings.HasPrefix(open, before) {
					changed++
				}
				before = strings.TrimSuffix(list, "]")
			}
			if compacted < 2 || compacted > 14 || changed != compacted || len(s.Problems()) > 0 {
				t.Errorf("%d compactions, the prefix changed %d times, %v", compacted, changed, s.Problems())
			}
		})
	}
}

func TestACompactionIsAllThatIsAskedFor(t *testing.T) {
	t.Parallel()
	for _, stream := range []bool{false, true} {
		s := providertest.New(t, providertest.Options{})
		st := memory.New()
		w := &writer{}
		base, _ := start(t, s.URL, func(o *gateway.Options) { o.Store, o.Summarizer = st, w })
		c := newSession(t, base, stream, 0)
		for n := range 4 {
			c.say(fmt.Sprintf("Question %d about ALPHA-%d.", n, n))
		}
		asked := len(s.Requests())
		whole := slices.Clone(c.items)
		c.items = append(c.items, responses.ResponseInputItemUnionParam{OfCompactionTrigger: &responses.ResponseInputItemCompactionTriggerParam{Type: "compaction_trigger"}})
		out := c.send()
		if len(out) != 1 || out[0].Type != "compaction" || len(s.Requests()) != asked || len(w.requests) != 1 {
			t.Fatalf("%d items, %d requests upstream", len(out), len(s.Requests())-asked)
		}
		sum, ok := polyfill.Unseal(out[0].AsCompaction().EncryptedContent)
		if !ok || !strings.Contains(sum.Text, "SUMMARY 1") || sum.Messages != 8 {
			t.Fatalf("made %+v", sum)
		}
		var node precis.Fingerprint
		if err := node.UnmarshalText([]byte(sum.Node)); err != nil {
			t.Fatal(err)
		}
		owners, err := st.Scopes(t.Context())
		if err != nil || len(owners) != 1 {
			t.Fatal(owners, err)
		}
		if originals, _, err := st.Scope(owners[0]).Load(t.Context(), node); err != nil || originals.Len() != 8 {
			t.Errorf("the originals are not in the store: %v", err)
		}

		// Its user messages, the item and a new question: what Codex goes on with.
		c.items = []responses.ResponseInputItemUnionParam{whole[0], whole[6]}
		c.items = append(append(c.items, back(out)...), userItem("And now?"))
		for range 3 {
			c.send()
			checkSummarized(t, s, []string{"Question 0 about", "Question 3 about", "SUMMARY 1", "And now?"}, []string{"Question 1 about", "compaction"})
			if !regexpOrder(string(last(s).Body), "Question 3 about", "SUMMARY 1", "And now?") {
				t.Errorf("sent %s", last(s).Body)
			}
		}
		// Everything, and the item.
		c.items = append(append(slices.Clone(whole), back(out)...), userItem("And now?"))
		c.send()
		checkSummarized(t, s, []string{"SUMMARY 1", "And now?"}, []string{"Question 0 about", "compaction"})
		if p := s.Problems(); len(p) > 0 {
			t.Error(p)
		}
	}
}

// regexpOrder reports whether the texts stand one behind the other.
func regexpOrder(body string, texts ...string) bool {
	at := 0
	for _, text := range texts {
		i := strings.Index(body[at:], text)
		if i < 0 {
			return false
		}
		at += i
	}
	return true
}

func TestCompactEndpoint(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{})
	w := &writer{}
	base, _ := start(t, s.URL, func(o *gateway.Options) { o.Summarizer = w })
	c := newSession(t, base, false, 0)
	for n := range 4 {
		c.say(fmt.Sprintf("Question %d about ALPHA-%d.", n, n))
	}
	asked := len(s.Requests())
	res, err := c.api.Responses.Compact(t.Context(), responses.ResponseCompactParams{
		Model: "gpt-5.1", Input: responses.ResponseCompactParamsInputUnion{OfResponseInputItemArray: c.items},
	})
	if err != nil {
		t.Fatal(err)
	}
	if res.Object != "response.compaction" || len(res.Output) != 5 || res.Output[4].Type != "compaction" || res.Output[0].Type != "message" || res.Usage.InputTokens != 700 || res.Usage.TotalTokens != 770 || res.CreatedAt == 0 || len(s.Requests()) != asked {
		t.Fatalf("answered %s", res.RawJSON())
	}
	c.items = append(back(res.Output), userItem("And now?"))
	for range 3 {
		c.send()
		checkSummarized(t, s, []string{"Question 0 about", "Question 3 about", "SUMMARY 1", "And now?"}, []string{`"ok"`, `"compaction"`})
	}
	one, err := c.api.Responses.Compact(t.Context(), responses.ResponseCompactParams{
		Model: "gpt-5.1", Input: responses.ResponseCompactParamsInputUnion{OfString: openai.String("Only this.")},
	})
	if err != nil || len(one.Output) != 2 || one.Output[0].Content[0].Text != "Only this." {
		t.Errorf("%v %+v", err, one)
	}
	for body, param := range map[string]string{
		`{"model":"m","previous_response_id":"resp_1"}`: "previous_response_id",
		`{"model":"m"}`:                  "input",
		`{"input":"x"}`:                  "model",
		`{"model":"m","input":[]}`:       "input",
		`{"model":"m","input":["text"]}`: "",
	} {
		res, out := post(t, base+"/v1/responses/compact", body)
		var e struct {
			Error struct{ Message, Param string }
		}
		if json.Unmarshal([]byte(out), &e) != nil || res.StatusCode != 400 || e.Error.Param != param || e.Error.Message == "" {
			t.Errorf("%s: %d %s", body, res.StatusCode, out)
		}
	}
	if p := s.Problems(); len(p) > 0 {
		t.Error(p)
	}
}

func TestSealedItemsAndStoredResponsesPass(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{})
	base, _ := start(t, s.URL, nil)
	body := `{"model":"m","store":false,"tools":[{"type":"function","name":"x"}],"input":[{"type":"message","role":"user","content":"A"},{"type":"compaction","id":"cmp_1","encrypted_content":"gAAAAABo"},{"type":"message","role":"user","content":"B"}]}`
	if post(t, base+"/v1/responses", body); string(last(s).Body) != body {
		t.Errorf("sent %s", last(s).Body)
	}
	body = `{"model":"m","previous_response_id":"resp_1","input":[{"type":"message","role":"user","content":"B"}]`
	if post(t, base+"/v1/responses", body+`,"context_management":[{"type":"compaction","compact_threshold":1}]}`); string(last(s).Body) != body+"}" {
		t.Errorf("sent %s", last(s).Body)
	}
}

func TestNativeCompactionGoesUpstream(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{})
	base, _ := start(t, s.URL, func(o *gateway.Options) { o.Native.Compact = true })
	body := `{"model":"m","store":false,"input":[{"type":"message","role":"user","content":"A"},{"type":"compaction_trigger"}]}`
	if post(t, base+"/v1/responses", body); string(last(s).Body) != body {
		t.Errorf("sent %s", last(s).Body)
	}
	// What we made ourselves no upstream can read.
	ours := polyfill.Summary{Text: "We read A."}.Seal()
	body = fmt.Sprintf(`{"model":"m","store":false,"input":[{"type":"compaction","encrypted_content":%q},{"type":"message","role":"user","content":"B"}]}`, ours)
	post(t, base+"/v1/responses", body)
	checkSummarized(t, s, []string{"We read A.", `"B"`}, []string{"compaction"})
}
