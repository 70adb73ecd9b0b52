package gateway_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"io"
	"math/rand"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A picture, sound or encrypted content in a request is some thousand tokens,
// however many bytes it has: at a window of 400,000 such a conversation goes up as
// it is, and nothing of it is hidden.
func TestMediaIsNoReasonToReduce(t *testing.T) {
	t.Parallel()
	img := image.NewRGBA(image.Rect(0, 0, 640, 640))
	rand.New(rand.NewSource(1)).Read(img.Pix) // never fails
	for i := 3; i < len(img.Pix); i += 4 {
		img.Pix[i] = 255
	}
	var file bytes.Buffer
	if err := png.Encode(&file, img); err != nil {
		t.Fatal(err)
	}
	picture := base64.StdEncoding.EncodeToString(file.Bytes())
	if len(picture) < 1_500_000 {
		t.Fatalf("the picture has %d characters only", len(picture))
	}
	reads := func(call, result string) string { // ten files
		var items []string
		for n := range 10 {
			text := strings.Repeat(fmt.Sprintf("line of file %d\\n", n), 800)
			items = append(items, fmt.Sprintf(call, n), fmt.Sprintf(result, n, text))
		}
		return strings.Join(items, ",")
	}
	for name, tt := range map[string]struct{ path, body string }{
		"a generated image": {"/v1/responses", `{"model":"gpt-5.4","max_output_tokens":500,"store":false,"input":[{"role":"user","content":"Never touch main.go. Draw it."},` +
			`{"type":"image_generation_call","id":"ig_1","status":"completed","result":"` + picture + `"},{"role":"user","content":"Now read."},` +
			reads(`{"type":"function_call","call_id":"t%d","name":"read","arguments":"{}"}`, `{"type":"function_call_output","call_id":"t%d","output":"%s"}`) + `],"tools":[{"type":"function","name":"read","parameters":{"type":"object"}}]}`},
		"screenshots": {"/v1/responses", `{"model":"computer-use-preview","max_output_tokens":500,"store":false,"input":[{"role":"user","content":"Click it."},` +
			`{"type":"computer_call","id":"cu_1","call_id":"c1","status":"completed","action":{"type":"screenshot"},"pending_safety_checks":[]},` +
			`{"type":"computer_call_output","call_id":"c1","output":{"type":"computer_screenshot","image_url":"data:image/png;base64,` + picture + `"}},` +
			reads(`{"type":"function_call","call_id":"t%d","name":"read","arguments":"{}"}`, `{"type":"function_call_output","call_id":"t%d","output":"%s"}`) + `],"tools":[{"type":"computer_use_preview"}]}`},
		"audio": {"/v1/chat/completions", `{"model":"gpt-4o-audio-preview","max_tokens":500,"messages":[{"role":"user","content":[{"type":"text","text":"Hear it."},{"type":"input_audio","input_audio":{"data":"` + picture[:640_000] + `","format":"wav"}}]},` +
			reads(`{"role":"assistant","content":null,"tool_calls":[{"id":"t%d","type":"function","function":{"name":"read","arguments":"{}"}}]}`, `{"role":"tool","tool_call_id":"t%d","content":"%s"}`) + `],"tools":[{"type":"function","function":{"name":"read","parameters":{"type":"object"}}}]}`},
		"a search": {"/v1/messages", `{"model":"claude-sonnet-4-5","max_tokens":500,"messages":[{"role":"user","content":"Search it."},` +
			`{"role":"assistant","content":[{"type":"server_tool_use","id":"s1","name":"web_search","input":{"query":"it"}},{"type":"web_search_tool_result","tool_use_id":"s1","content":[{"type":"web_search_result","url":"https://a.example","title":"A","encrypted_content":"` + picture[:600_000] + `"}]},{"type":"text","text":"Found."}]},{"role":"user","content":"Now read."},` +
			reads(`{"role":"assistant","content":[{"type":"tool_use","id":"t%d","name":"read","input":{}}]}`, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":"%s"}]}`) + `],"tools":[{"name":"read","input_schema":{"type":"object"}}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			sent, answer := mediaThroughGateway(t, 400_000, tt.path, tt.body)
			if sent != tt.body {
				t.Errorf("%d bytes were sent, %d went up: %.300s", len(tt.body), len(sent), sent)
			}
			if answer != http.StatusOK {
				t.Errorf("status %d", answer)
			}
		})
	}
}

// mediaThroughGateway sends a request through a gateway for a window of so many tokens
// and returns what went up and the status that came back.
func mediaThroughGateway(t *testing.T, window int, path, body string) (sent string, status int) {
	t.Helper()
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		sent = string(data)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"id":"x","object":"response","status":"completed","output":[],"content":[],"choices":[]}`) // a client that left is seen elsewhere
	}))
	defer up.Close()
	status, _ = smallGateway(t, up.URL, window)(path, body)
	return sent, status
}

// A document of the newest message goes up however many tokens it is estimated to take. When the upstream refuses it, the request
// goes up again without it, once, and says so in its place.
func TestADocumentGivesWayToARefusal(t *testing.T) {
	t.Parallel()
	file := base64.StdEncoding.EncodeToString([]byte("%PDF-1.4\n1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj\n2 0 obj << /Type /Pages /Count 900 >> endobj\ntrailer << /Root 1 0 R >>\n" + strings.Repeat("%\n", 4000)))
	first := `{"model":"claude-sonnet-4-5","max_tokens":8000,"tools":[{"name":"read","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":[{"type":"document","title":"spec.pdf","source":{"type":"base64","media_type":"application/pdf","data":"` + file + `"}},{"type":"text","text":"Summarize it in three sentences."}]}]}`
	for refuses, want := range map[bool]int{false: 1, true: 2} {
		body, sent := first, []string(nil)
		up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			data, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			if r.Method == http.MethodGet {
				http.NotFound(w, r)
				return
			}
			sent = append(sent, string(data))
			w.Header().Set("Content-Type", "application/json")
			if refuses && strings.Contains(string(data), file) {
				w.WriteHeader(http.StatusBadRequest)
				_, _ = io.WriteString(w, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 1943000 tokens > 200000 maximum"}}`) // see above
				return
			}
			_, _ = io.WriteString(w, `{"id":"x","type":"message","role":"assistant","content":[{"type":"text","text":"Done."}],"usage":{"input_tokens":90,"output_tokens":2}}`)
		}))
		ask := smallGateway(t, up.URL, 200_000)
		status, _ := ask("/v1/messages", body)
		for turn := range 3 { // what the upstream counted is the size from then on, and the document stays
			if refuses {
				break
			}
			next := `{"role":"assistant","content":[{"type":"text","text":"Done."}]},{"role":"user","content":"And in one?"}]}`
			body = strings.TrimSuffix(body, "]}") + "," + next
			if status, _ := ask("/v1/messages", body); status != http.StatusOK || sent[len(sent)-1] != body {
				t.Errorf("turn %d: status %d, %.300s", turn, status, sent[len(sent)-1])
			}
			sent = sent[:1]
		}
		up.Close()
		if status != http.StatusOK || len(sent) != want || !strings.Contains(sent[0], file) {
			t.Fatalf("refuses %t: status %d, %d requests, want %d", refuses, status, len(sent), want)
		}
		if last := sent[want-1]; refuses && (!strings.Contains(last, "[A document (spec.pdf) is hidden here, because the request was too long with it: m0.b0.]") || !strings.Contains(last, "three sentences")) {
			t.Errorf("the second request: %.600s", last)
		}
	}
}
