package provider

import (
	"fmt"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/model"
	"github.com/precis-dev/precis/wire/anthropic"
)

// rides are the dialects without a server.
var rides = map[string]api{"anthropic": anthropicAPI{}, "chat": chatAPI{}, "responses": responsesAPI{}}

// ours are the fields that a ride may change.
var ours = map[string]bool{
	"messages": true, "input": true, "stream": true, "stream_options": true, "max_tokens": true,
	"max_completion_tokens": true, "max_output_tokens": true, "store": true, "background": true,
}

func FuzzRide(f *testing.F) {
	for _, live := range liveBodies {
		f.Add([]byte(live))
	}
	f.Add([]byte(`{}`))
	f.Add([]byte(" {\"messages\":[1],\"input\":\"\xff\",\"cache_control\":{}, \"a\":[]}\n"))
	f.Add([]byte(`{"messages":[{"content":[{"cache_control":1},{"cache_control":[],"content":[{"cache_control":""}]}]}],"thinking":{"budget_tokens":1e9}}`))
	f.Fuzz(func(t *testing.T, live []byte) {
		for dialect, api := range rides {
			messages, err := anthropic.DecodeMessages(fieldOf(live, messagesOf[dialect]))
			if err != nil || len(messages) == 0 {
				messages = []precis.Message{precis.NewText(precis.RoleUser, "Sum up.")}
			}
			o := order{Request: model.Request{Body: live, Messages: messages}, limit: 77, chatLimit: olderLimit}
			out, err := api.ride(o)
			if err != nil {
				continue
			}
			if err := jsonspan.Valid(out); err != nil {
				t.Fatalf("%s: %v\n%q\n%q", dialect, err, live, out)
			}
			names, want := members(t, live)
			gotNames, got := members(t, out)
			for i, name := range names {
				if gotNames[i] != name || !ours[name] && got[name] != want[name] {
					t.Fatalf("%s: %s changed\n%q\n%q", dialect, name, live, out)
				}
			}
			for _, name := range gotNames[len(names):] {
				if !ours[name] {
					t.Fatalf("%s: %s was added", dialect, name)
				}
			}
			if again, err := api.ride(order{Request: model.Request{Body: out, Messages: messages}, limit: 77, chatLimit: olderLimit}); err != nil || string(again) != string(out) {
				t.Fatalf("%s: not the same again: %v\n%q\n%q", dialect, err, out, again)
			}
		}
	})
}

// fieldOf returns a member of an object, nil where there is none.
func fieldOf(raw []byte, name string) []byte {
	o, err := parseObject(raw)
	if err != nil {
		return nil
	}
	return o.Get(name)
}

func bigBody() string {
	var b strings.Builder
	b.WriteString(`{"model":"m","max_tokens":8000,"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],"messages":[`)
	line := strings.Repeat(`\tif err != nil { return fmt.Errorf(\"read %s: %w\", name, err) }\n`, 20)
	for i := range 350 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"role":"user","content":"next"},{"role":"assistant","content":[{"type":"tool_use","id":"t%d","name":"read","input":{}}]},`, i)
		fmt.Fprintf(&b, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":"%s%s"}]}`, i, line, line)
	}
	b.WriteString(`],"stream":true}`)
	return b.String()
}

// BenchmarkRide splices a live body of 1 MB.
func BenchmarkRide(b *testing.B) {
	r := riding(b, "anthropic", bigBody())
	o := order{Request: r, limit: 3000}
	b.SetBytes(int64(len(r.Body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (anthropicAPI{}).ride(o); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRideCapped has more breakpoints than are allowed.
func BenchmarkRideCapped(b *testing.B) {
	marked := strings.ReplaceAll(bigBody(), `"}]}`, `","cache_control":{"type":"ephemeral"}}]}`)
	o := order{Request: riding(b, "anthropic", marked), limit: 3000}
	b.SetBytes(int64(len(marked)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (anthropicAPI{}).ride(o); err != nil {
			b.Fatal(err)
		}
	}
}
