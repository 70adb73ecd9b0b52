package tokens_test

import (
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/tokens"
	"github.com/precis-dev/precis/wire/anthropic"
	"github.com/precis-dev/precis/wire/chat"
	"github.com/precis-dev/precis/wire/responses"
)

// What each API charges for content that is no text, by its published rules (see
// image.go, file.go, audio.go and sealed.go), and what the decoded message counts:
// never more than twice as much, never less than half.
func TestEachDialectCountsMediaByWhatItIs(t *testing.T) {
	shot := b64(noisePNG(640, 640)) // 1.6 MB
	if len(shot) < 1_500_000 {
		t.Fatalf("the picture has %d characters only", len(shot))
	}
	photo, page, wav := b64(jpegOf(1024, 768)), b64(pdfOf(10, 3000)), b64(wavOf(60, 24000))
	dialects := map[string]func(string) (precis.Message, error){
		"anthropic": func(s string) (precis.Message, error) { return anthropic.DecodeMessage([]byte(s)) },
		"chat":      func(s string) (precis.Message, error) { return chat.DecodeMessage([]byte(s)) },
		"responses": func(s string) (precis.Message, error) { return responses.DecodeMessage([]byte(s)) },
	}
	const (
		anthropicShot, tileShot, patchShot = 547, 85 + 4*170, 480 // 640 × 640
		anthropicPhoto, tilePhoto          = 1049, 85 + 4*170     // 1024 × 768
	)
	user := func(part string) string { return `{"role":"user","content":[` + part + `]}` }
	for _, tt := range []struct {
		dialect, name, model string
		raw                  string
		charged              int
	}{
		{"responses", "a generated image", "gpt-4o", `{"type":"image_generation_call","id":"ig_1","status":"completed","result":"` + shot + `"}`, tileShot},
		{"responses", "a generated image, patches", "gpt-5.4", `{"type":"image_generation_call","id":"ig_1","status":"completed","result":"` + shot + `","revised_prompt":"a cat"}`, patchShot},
		{"responses", "a screenshot", "computer-use-preview", `{"type":"computer_call_output","call_id":"c1","output":{"type":"computer_screenshot","image_url":"data:image/png;base64,` + shot + `"}}`, 65 + 4*129},
		{"responses", "a screenshot, escaped", "gpt-4o", `{"type":"computer_call_output","call_id":"c1","output":{"type":"computer_screenshot","image_url":"data:image\/png;base64,` + strings.ReplaceAll(shot, "/", `\/`) + `"}}`, tileShot},
		{"responses", "a screenshot by its ID", "gpt-4o", `{"type":"computer_call_output","call_id":"c1","output":{"type":"computer_screenshot","file_id":"file-1"}}`, 1105},
		{"responses", "an image", "gpt-4o", user(`{"type":"input_image","image_url":"data:image/jpeg;base64,` + photo + `"}`), tilePhoto},
		{"responses", "an image in low detail", "gpt-4o", user(`{"type":"input_image","detail":"low","image_url":"data:image/jpeg;base64,` + photo + `"}`), 85},
		{"responses", "an image of a small model", "gpt-5-mini", user(`{"type":"input_image","image_url":"data:image/jpeg;base64,` + photo + `"}`), 1244},
		{"responses", "an image of 4o-mini", "gpt-4o-mini", user(`{"type":"input_image","image_url":"data:image/jpeg;base64,` + photo + `"}`), 2833 + 4*5667},
		{"responses", "an image by its ID", "gpt-4o", user(`{"type":"input_image","file_id":"file-1"}`), 1105},
		{"responses", "an image in an output", "gpt-4o", `{"type":"function_call_output","call_id":"c","output":[{"type":"input_image","image_url":"data:image/png;base64,` + shot + `"}]}`, tileShot},
		{"responses", "a PDF", "gpt-4o", user(`{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,` + page + `"}`), 10 * (765 + 500)},
		{"responses", "a text file", "gpt-4o", user(`{"type":"input_file","filename":"a.txt","file_data":"data:text/plain;base64,` + b64([]byte(prose(4000))) + `"}`), 4000},
		{"responses", "sealed reasoning", "gpt-5.4", `{"type":"reasoning","id":"rs","summary":[],"encrypted_content":"` + sealed(20_000) + `"}`, (20_000*3/4 - 650) / 4},
		{"responses", "reasoning with a summary", "gpt-5.4", `{"type":"reasoning","id":"rs","summary":[{"type":"summary_text","text":"I think."}],"encrypted_content":"` + sealed(20_000) + `"}`, (20_000*3/4 - 650) / 4},
		{"responses", "a compaction", "gpt-5.4", `{"type":"compaction","id":"cmp","encrypted_content":"` + sealed(40_000) + `"}`, (40_000*3/4 - 650) / 4},
		{"responses", "a search", "gpt-5.4", `{"type":"web_search_call","id":"ws","status":"completed","action":{"type":"search","query":"` + prose(20) + `"}}`, 30},
		{"responses", "an MCP call", "gpt-5.4", `{"type":"mcp_call","id":"mcp","server_label":"docs","name":"read","arguments":"{}","output":"` + prose(2000) + `"}`, 2000},
		{"responses", "an interpreter", "gpt-4o", `{"type":"code_interpreter_call","id":"ci","container_id":"c","code":"` + prose(300) + `","outputs":[{"type":"logs","logs":"` + prose(300) + `"},{"type":"image","url":"data:image/png;base64,` + shot + `"}]}`, 600 + tileShot},
		{"responses", "something new", "gpt-4o", `{"type":"hologram_call","id":"h","status":"completed","cube":{"faces":[{"pixels":"` + shot + `"}],"caption":"` + prose(200) + `"}}`, 200 + tileShot},

		{"chat", "audio", "gpt-4o", user(`{"type":"input_audio","input_audio":{"data":"` + wav + `","format":"wav"}}`), 600},
		{"chat", "audio as MP3", "gpt-4o", user(`{"type":"input_audio","input_audio":{"data":"` + b64(mp3Of(60, 64, 5000)) + `","format":"mp3"}}`), 600},
		{"chat", "audio of Gemini", "gemini-2.5-pro", user(`{"type":"input_audio","input_audio":{"data":"` + wav + `","format":"wav"}}`), 1920},
		{"chat", "an image", "gpt-4o", user(`{"type":"image_url","image_url":{"url":"data:image/png;base64,` + shot + `"}}`), tileShot},
		{"chat", "an image in low detail", "gpt-4o", user(`{"type":"image_url","image_url":{"url":"data:image/png;base64,` + shot + `","detail":"low"}}`), 85},
		{"chat", "an image by its address", "gpt-4o", user(`{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}`), 1105},
		{"chat", "an image of Gemini 3", "gemini-3-pro", user(`{"type":"image_url","image_url":{"url":"data:image/png;base64,` + shot + `"}}`), 1120},
		{"chat", "a PDF", "gpt-4o", user(`{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,` + page + `"}}`), 10 * (765 + 500)},
		{"chat", "something new", "gpt-4o", user(`{"type":"input_video_frame","frame":{"blob":"` + shot + `"}}`), tileShot},

		{"anthropic", "an image", "claude-sonnet-4-5", user(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + shot + `"}}`), anthropicShot},
		{"anthropic", "a photo", "claude-sonnet-4-5", user(`{"type":"image","source":{"type":"base64","media_type":"image/jpeg","data":"` + photo + `"}}`), anthropicPhoto},
		{"anthropic", "a photo of a newer model", "claude-opus-5-5", user(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + b64(pngOf(2576, 1449)) + `"}}`), 4784},
		{"anthropic", "a photo of an older model", "claude-haiku-4-5", user(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + b64(pngOf(2576, 1449)) + `"}}`), 1568},
		{"anthropic", "an image by its ID", "claude-sonnet-4-5", user(`{"type":"image","source":{"type":"file","file_id":"file_1"}}`), 1568},
		{"anthropic", "a PDF", "claude-sonnet-4-5", user(`{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"` + page + `"}}`), 10 * 2115},
		{"anthropic", "a text", "claude-sonnet-4-5", user(`{"type":"document","source":{"type":"text","media_type":"text/plain","data":"` + prose(3000) + `"}}`), 3000},
		{"anthropic", "content", "claude-sonnet-4-5", user(`{"type":"document","source":{"type":"content","content":[{"type":"text","text":"` + prose(3000) + `"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + shot + `"}}]},"title":"a"}`), 3000 + anthropicShot},
		{"anthropic", "a search", "claude-sonnet-4-5", `{"role":"assistant","content":[{"type":"web_search_tool_result","tool_use_id":"s","content":[{"type":"web_search_result","url":"https://a.example/x","title":"A","encrypted_content":"` + sealed(8000) + `"},{"type":"web_search_result","url":"https://b.example/x","title":"B","encrypted_content":"` + sealed(8000) + `"}]}]}`, 16_000 * 3 / 16},
		{"anthropic", "a page", "claude-sonnet-4-5", `{"role":"assistant","content":[{"type":"web_fetch_tool_result","tool_use_id":"s","content":{"type":"web_fetch_result","url":"https://a.example","content":{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"` + page + `"}}}}]}`, 10 * 2115},
		{"anthropic", "a page of text", "claude-sonnet-4-5", `{"role":"assistant","content":[{"type":"web_fetch_tool_result","tool_use_id":"s","content":{"type":"web_fetch_result","url":"https://a.example","content":{"type":"document","source":{"type":"text","media_type":"text/plain","data":"` + prose(3000) + `"}}}}]}`, 3000},
		{"anthropic", "thinking that is not shown", "claude-opus-4-6", `{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"` + sealed(20_000) + `"}]}`, (20_000*3/4 - 650) / 4},
		{"anthropic", "thinking that is", "claude-opus-4-6", `{"role":"assistant","content":[{"type":"thinking","thinking":"` + prose(1000) + `","signature":"` + sealed(800) + `"}]}`, 1000},
		{"anthropic", "a compaction", "claude-opus-4-6", `{"role":"assistant","content":[{"type":"compaction","content":"` + prose(2000) + `","encrypted_content":"` + sealed(14_000) + `"}]}`, 2500},
	} {
		t.Run(tt.dialect+"/"+tt.name, func(t *testing.T) {
			m, err := dialects[tt.dialect](tt.raw)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{tokens.NameO200k, tokens.NameChars4} {
				c := counter(t, name)
				if byModel, ok := c.(precis.ModelCounter); ok {
					c = byModel.ForModel(tt.model)
				}
				factor := 1.0
				if name == tokens.NameO200k {
					factor, _ = tokens.FamilyFactor(tt.model)
				}
				got := int(float64(c.Count(m)) * factor)
				if got > 2*tt.charged+20 || got < tt.charged/2 {
					t.Errorf("%s counts %d, the API %d: off by %.1f", name, got, tt.charged, float64(got)/float64(tt.charged))
				}
			}
		})
	}
}
