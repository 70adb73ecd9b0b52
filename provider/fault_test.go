package provider

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/precis-dev/precis/model"
	"github.com/precis-dev/precis/provider/providertest"
)

// Errors that come with status 200, as servers are known to send them.
func TestErrorsInStreams(t *testing.T) {
	tests := []struct {
		name, dialect, stream string
		want                  model.Fault
		limit                 int
	}{
		{"overloaded", "anthropic", "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n", model.FaultOverloaded, 0},
		{"internal", "anthropic", "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"x\"}}\n\n", model.FaultOverloaded, 0},
		{"a wrong request", "anthropic", "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"messages: wrong\"}}\n\n", model.FaultRequest, 0},
		{"too long", "anthropic", "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"prompt is too long: 210000 tokens > 200000 maximum\"}}\n\n", model.FaultOverflow, 200_000},
		{"no JSON", "anthropic", "event: error\ndata: something broke\n\n", model.FaultOverloaded, 0},
		{"billing", "anthropic", "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"billing_error\",\"message\":\"x\"}}\n\n", model.FaultAuth, 0},
		{"a status as a code", "chat", "data: {\"error\":{\"code\":429,\"message\":\"slow down\"}}\n\n", model.FaultRateLimited, 0},
		{"a status as a text", "chat", "data: {\"error\":{\"code\":\"502\",\"message\":\"bad gateway\"}}\n\n", model.FaultOverloaded, 0},
		{"a status for auth", "chat", "data: {\"error\":{\"code\":402,\"message\":\"no credits\"}}\n\n", model.FaultAuth, 0},
		{"a text only", "chat", "data: {\"error\":\"it broke\"}\n\n", model.FaultOverloaded, 0},
		{"a long prompt", "chat", "data: {\"error\":{\"code\":400,\"message\":\"This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens\"}}\n\n", model.FaultOverflow, 32_768},
		{"with an event line", "chat", "event: error\ndata: {\"error\":{\"type\":\"server_error\",\"message\":\"x\"}}\n\n", model.FaultOverloaded, 0},
		{"a flat error", "responses", "event: error\ndata: {\"type\":\"error\",\"code\":\"rate_limit_exceeded\",\"message\":\"x\",\"sequence_number\":1}\n\n", model.FaultRateLimited, 0},
		{"an error in an error", "responses", "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"code\":\"context_length_exceeded\",\"message\":\"Your input exceeds the context window of this model. Please adjust your input and try again.\"}}\n\n", model.FaultOverflow, 0},
		{"a failed response", "responses", "event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"status\":\"failed\",\"error\":{\"code\":\"server_error\",\"message\":\"x\"}}}\n\n", model.FaultOverloaded, 0},
		{"a failed response without a reason", "responses", "event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"status\":\"failed\"}}\n\n", model.FaultOverloaded, 0},
		{"a refused prompt", "responses", "event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"status\":\"failed\",\"error\":{\"code\":\"invalid_prompt\",\"message\":\"x\"}}}\n\n", model.FaultRequest, 0},
		{"a whole that failed", "responses", `{"object":"response","status":"failed","error":null}`, model.FaultOverloaded, 0},
		{"a whole that goes on", "responses", `{"object":"response","status":"in_progress","error":null}`, model.FaultConnection, 0},
		{"a whole error", "chat", `{"error":"the model does not answer"}`, model.FaultOverloaded, 0},
	}
	for _, tt := range tests {
		s := providertest.New(t, providertest.Options{})
		s.Enqueue(providertest.Respond(200, "text/event-stream", tt.stream))
		_, err := dial(t, s, tt.dialect, func(c *Config) { c.Retries = -1 }).Generate(context.Background(), ask("a"))
		var e *model.Error
		if !errors.As(err, &e) || e.Fault != tt.want || e.Limit != tt.limit {
			t.Errorf("%s/%s: %v (%+v), want %s", tt.dialect, tt.name, err, e, tt.want)
			continue
		}
		if e.Fault != model.FaultConnection && len(e.Body) == 0 {
			t.Errorf("%s/%s: the error has no body", tt.dialect, tt.name)
		}
	}
}

func TestFirstBytes(t *testing.T) {
	for text, want := range map[string]byte{
		"data: 1":            ':',
		"event: a\ndata: 1":  ':',
		"id: 1":              ':',
		"retry: 5":           ':',
		": a comment":        ':',
		"\r\n\n data:1":      ':',
		"\xef\xbb\xbfdata:1": ':',
		" \n{\"a\":1}":       '{',
		"[1]":                0,
		"<html>":             0,
		"d":                  0,
		"Too busy":           0,
		"null":               0,
	} {
		r := bufio.NewReader(strings.NewReader(text))
		got, err := sniff(r)
		rest, _ := io.ReadAll(r)
		if got != want || err != nil || !strings.HasSuffix(text, string(rest)) || len(rest) == 0 {
			t.Errorf("%q: %q, %v, then %q", text, got, err, rest)
		}
	}
	if _, err := sniff(bufio.NewReader(strings.NewReader(" \n"))); err == nil {
		t.Error("nothing is an answer")
	}
}
