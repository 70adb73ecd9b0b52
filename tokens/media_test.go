package tokens_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/measure"
	"github.com/precis-dev/precis/tokens"
)

// countFor counts one block as a model does, the frame of its message left out.
func countFor(t testing.TB, model string, b precis.Block) int {
	t.Helper()
	c, err := tokens.New(tokens.Options{Name: tokens.NameChars4, Model: model})
	if err != nil {
		t.Fatal(err)
	}
	return c.Count(precis.Message{Role: precis.RoleUser, Content: []precis.Block{b}})
}

func TestModelsHaveTheRulesOfTheirGuides(t *testing.T) {
	// 1024 × 1024 and 3000 × 2000 pixels, by the guides.
	for model, want := range map[string][2]int{
		"claude-sonnet-4-5-20250929": {37 * 37, 1568}, "us.anthropic.claude-opus-4-7-v1:0": {37 * 37, 4784}, "claude-sonnet-5-5": {37 * 37, 4784}, "claude-3-5-haiku": {37 * 37, 1568},
		"gpt-4o": {765, 1105}, "openai/gpt-4.1": {765, 1105}, "gpt-4o-mini": {25501, 36835}, "o3": {675, 975}, "gpt-5": {630, 910}, "gpt-5.1-codex": {630, 910}, "computer-use-preview": {581, 839},
		"gpt-4.1-mini": {1659, 2489}, "gpt-4.1-nano-2025-04-14": {2520, 3779}, "o4-mini": {1762, 2642}, "gpt-5.2": {1229, 1844}, "gpt-5.4": {1229, 3000}, "gpt-5.5": {1229, 7106}, "gpt-6-astra": {1229, 7106},
		"gemini-2.5-pro": {4 * 258, 12 * 258}, "google/gemini-3.5-flash": {1120, 1120},
		"llama-4": {37 * 37, 1568}, "": {37 * 37, 1568},
	} {
		for i, b := range []precis.Image{{Width: 1024, Height: 1024}, {Width: 3000, Height: 2000}} {
			got := tokens.ImageTokens(b, tokens.ImageRuleOf(model))
			if math.Abs(float64(got-want[i])) > 0.06*float64(want[i]) { // how exactly they scale is not published
				t.Errorf("%s, %d × %d: %d tokens, want about %d", model, b.Width, b.Height, got, want[i])
			}
		}
	}
}

func TestDetail(t *testing.T) {
	for _, tt := range []struct {
		model, raw string
		want       int
	}{
		{"gpt-4o", `{"type":"image_url","image_url":{"url":"x","detail":"low"}}`, 85},
		{"gpt-4o", `{"type":"image_url","image_url":{"url":"x","detail":"high"}}`, 1105},
		{"gpt-5.4", `{"type":"input_image","detail":"low"}`, 173}, // 512 × 288
		{"gpt-5.4", `{"type":"input_image","detail":"original"}`, 2448},
		{"gpt-5.5", `{"type":"input_image","detail":"high"}`, 2448},
		{"claude-opus-4-5", `{"type":"image"}`, 1568},
	} {
		b := precis.Image{Width: 1920, Height: 1080, Raw: json.RawMessage(tt.raw)}
		if got := countFor(t, tt.model, b); got != tt.want {
			t.Errorf("%s %s: %d, want %d", tt.model, tt.raw, got, tt.want)
		}
	}
}

func TestSizesAreReadFromHeads(t *testing.T) {
	for name, data := range map[string][]byte{"png": pngOf(560, 280), "jpeg": jpegOf(560, 280), "gif": gifOf(560, 280), "webp": webpOf(560, 280), "noise": noisePNG(560, 280)} {
		text := b64(data)
		for form, s := range map[string]string{"plain": text, "for URLs": strings.NewReplacer("+", "-", "/", "_").Replace(text), "unpadded": strings.TrimRight(text, "="), "in lines": lines(text)} {
			if got := countFor(t, "claude-sonnet-4-5", precis.Image{Data: s}); got != 200 {
				t.Errorf("%s, %s: %d tokens, want 200", name, form, got)
			}
			raw, err := json.Marshal(map[string]any{"type": "new_thing", "pixels": s})
			if err != nil {
				t.Fatal(err)
			}
			if got := countFor(t, "claude-sonnet-4-5", precis.Opaque{Type: "new_thing", Raw: raw}); got < 200 || got > 205 {
				t.Errorf("%s, %s, in what is not understood: %d tokens, want 200", name, form, got)
			}
		}
		for _, n := range []int{0, 1, 7, 12, len(text) / 2, len(text) - 1} { // whatever is missing
			if got := countFor(t, "claude-sonnet-4-5", precis.Image{Data: text[:n]}); got != 200 && got != 1568 {
				t.Errorf("%s cut off after %d: %d tokens", name, n, got)
			}
		}
	}
}

func lines(s string) string {
	var b strings.Builder
	for len(s) > 76 {
		b.WriteString(s[:76] + "\r\n")
		s = s[76:]
	}
	return b.String() + s
}

func TestPagesOfPDF(t *testing.T) {
	linear := []byte("%PDF-1.5\n1 0 obj << /Linearized 1 /L 90000 /H [ 1 2 ] /O 3 /N 12 /T 5 >>\n" + strings.Repeat("\x00\xff", 2_000_000))
	packed := []byte("%PDF-1.5\n" + strings.Repeat("\xaa\x55", 100_000)) // its list of pages is compressed
	for _, tt := range []struct {
		name string
		data []byte
		want int
	}{
		{"one page", pdfOf(1, 3000), 1}, {"ten", pdfOf(10, 3000), 10}, {"many", pdfOf(600, 500), 600}, {"a large one", pdfOf(40, 200_000), 40},
		{"its list is at the end alone", append([]byte("%PDF-1.4\n"+strings.Repeat("x", 4_000_000)), pdfOf(7, 100)...), 7},
		{"pages without a list", []byte(strings.ReplaceAll(string(pdfOf(5, 500)), "/Count", "/Coun")), 5},
		{"linearized", linear, 12}, {"by its size", packed, 5},
		{"it lies", []byte("%PDF-1.4\n<< /Type /Pages /Count 999999 >>"), 1}, {"another count is larger", append(pdfOf(1, 5_000_000), "/Count 999999"...), 1},
		{"bookmarks", []byte(strings.Replace(string(pdfOf(20, 15_000)), "trailer", "900 0 obj << /Type /Outlines /First 901 0 R /Count 400 >> endobj\ntrailer", 1)), 20},
		{"text that looks like objects", []byte(strings.Replace(string(pdfOf(20, 15_000)), "xxx", "\n2 0 obj << /Type /Pages /Count 900 >> endobj /Root 7 0 R\n", 1)), 20},
		{"an update that left five", append(pdfOf(60, 500), "2 0 obj << /Type /Pages /Kids [] /Count 5 >> endobj\ntrailer << /Root 1 0 R >>\n%%EOF\n"...), 5},
		{"a count of its own", []byte(strings.Replace(string(pdfOf(30, 500)), "/Count 30", "/Count 990 0 R >> endobj\n990 0 obj 30 endobj\n991 0 obj <<", 1)), 30},
		{"object streams", packedPDF(60, 2000, 0), 60},
		{"object streams with carriage returns", []byte(strings.ReplaceAll(string(packedPDF(200, 2000, 0)), "stream\n", "stream\r\n")), 200},
		{"an updated object stream", append(packedPDF(60, 2000, 0), packedPDF(7, 100, 0)...), 7},
		{"a bomb", packedPDF(60, 2000, 1<<30), 24},
		{"a stream that was cut off", packedPDF(60, 2000, 0)[:100_000], 3},
		{"cut off", pdfOf(10, 3000)[:60], 1},
	} {
		data := b64(tt.data)
		for form, b := range map[string]precis.Block{
			"document": precis.Document{MediaType: "application/pdf", Data: data},
			"opaque":   precis.Opaque{Type: "x", Raw: json.RawMessage(`{"type":"web_fetch_result","content":{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"` + data + `"}}}`)},
		} {
			if got := countFor(t, "gemini-2.5-pro", b); got/258 != tt.want { // a fixed number a page
				t.Errorf("%s, %s: %.1f pages, want %d", tt.name, form, float64(got)/258, tt.want)
			}
		}
	}
}

func TestSecondsOfSound(t *testing.T) {
	flac := append([]byte("fLaC\x00\x00\x00\x22\x10\x00\x10\x00\x00\x00\x00\x00\x00\x00"), 0x0b, 0xb8, 0x00, 0xf0, 0x00, 0x0e, 0xa6, 0x00) // 48 kHz, 960,000 samples
	flac = append(flac, make([]byte, 700_000)...)
	ogg := append([]byte("OggS\x00\x02"), make([]byte, 80_000)...)
	ogg = append(ogg, "OggS\x00\x04\x00\xa6\x0e\x00\x00\x00\x00\x00"...) // 960,000 samples of 48 kHz
	ogg = append(ogg, make([]byte, 3000)...)
	vbr := mp3Of(20, 64, 1000)
	copy(vbr[1010+36:], "Xing\x00\x00\x00\x01\x00\x00\x03\x00") // 768 frames
	for _, tt := range []struct {
		name, format string
		data         []byte
		want         float64
	}{
		{"wav", "wav", wavOf(20, 24000), 20}, {"wav of a telephone", "wav", wavOf(20, 8000), 20},
		{"mp3", "mp3", mp3Of(20, 128, 0), 20}, {"mp3 behind a tag", "mp3", mp3Of(20, 64, 40_000), 20}, {"mp3 behind a large tag", "mp3", mp3Of(20, 64, 900_001), 20}, {"mp3 that says its frames", "mp3", vbr, 20},
		{"flac", "flac", flac, 20}, {"ogg", "opus", ogg, 20}, {"raw", "pcm16", wavOf(20, 24000)[44:], 20},
		{"wav that is cut off", "wav", wavOf(20, 24000)[:30], 0}, {"mp3 that is cut off", "mp3", []byte{0xff, 0xfb}, 0}, {"nothing", "wav", nil, 0},
		{"wav that lies", "wav", append([]byte("RIFF\x00\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x01\x00\x00\x00\x01\x00\x00\x00\x02\x00\x10\x00"), make([]byte, 50_000)...), 100},
	} {
		raw := json.RawMessage(fmt.Sprintf(`{"type":"input_audio","input_audio":{"data":%q,"format":%q}}`, b64(tt.data), tt.format))
		got := float64(countFor(t, "gpt-4o", precis.Opaque{Type: "input_audio", Raw: raw})) / 10
		if math.Abs(got-tt.want) > 1+0.1*tt.want && tt.want > 0 || tt.want == 0 && got > 15 {
			t.Errorf("%s: %.1f seconds, want %.0f", tt.name, got, tt.want)
		}
	}
	spoken := precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{precis.Opaque{Type: "audio", Raw: json.RawMessage(`{"audio":{"id":"a","data":"` + b64(wavOf(20, 24000)) + `"}}`)}}}
	if got := counter(t, "chars4").Count(spoken); got != 400 {
		t.Errorf("what the model says: %d tokens, want 400", got)
	}
}

func TestOpaqueContentIsNeverCountedByItsBytes(t *testing.T) {
	large := strings.Repeat("QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo0NTY3ODkw", 120_000) // 5 MB of nobody knows what
	for _, raw := range []string{
		`{"type":"hologram","payload":"` + large + `"}`, `{"type":"x","y":[["` + large + `"]]}`, `{"type":"x","result":"data:application/x-new;base64,` + large + `"}`,
		`{"type":"image","source":{"type":"base64","media_type":"image/heic","data":"` + large + `"}}`, `{"type":"x","image_url":{"url":"data:image/new;base64,` + large + `"}}`,
		`{"type":"x","payload":"` + large, `"` + large + `"`, // and what is no JSON
	} {
		if got := countFor(t, "claude-sonnet-4-5", precis.Opaque{Type: "x", Raw: json.RawMessage(raw)}); got > 60_000 {
			t.Errorf("%.60s…: %d tokens", raw, got)
		}
	}
	// What a model reads as words is words, also when it looks like data.
	words := `{"type":"mcp_call","output":"` + strings.Repeat("QUJDREVG", 1000) + `"}`
	if got := countFor(t, "gpt-4o", precis.Opaque{Type: "mcp_call", Raw: json.RawMessage(words)}); got < 1500 {
		t.Errorf("the output of a tool: %d tokens", got)
	}
}

// Depth and width are read once: each of these would take minutes otherwise.
func TestHostileContentIsReadOnce(t *testing.T) {
	deep := strings.Repeat(`{"content":[`, 4900) + strings.Repeat(`]}`, 4900)
	deeper := strings.Repeat(`[`, 2_000_000)
	wide := `[` + strings.Repeat(`{"type":"text","text":"a"},`, 200_000) + `1]`
	names := `{` + strings.Repeat(`"a":"b",`, 500_000) + `"c":1}`
	markers := b64([]byte("\xff\xd8\xff" + strings.Repeat("\xff\xe1\x00\x02", 1_200_000))) // a JPEG of nothing but heads
	chunks := b64([]byte("%PDF-1.4 " + strings.Repeat("/Count 9 /Type /Page ", 250_000)))
	for name, raw := range map[string]string{
		"deep": deep, "too deep": deeper, "wide": wide, "names": names, "escapes": `{"data":"` + strings.Repeat(`\/`, 2_500_000) + `"}`,
		"markers": `{"type":"image","data":"` + markers + `"}`, "pdf": `{"type":"document","data":"` + chunks + `"}`,
	} {
		if got := countFor(t, "gpt-5.5", precis.Opaque{Type: "x", Raw: json.RawMessage(raw)}); got < 1 {
			t.Errorf("%s: %d tokens", name, got)
		}
	}
}

func TestACounterGoesByTheModel(t *testing.T) {
	m := measure.New(counter(t, ""))
	msg := precis.Message{Role: precis.RoleUser, Content: []precis.Block{precis.Image{Width: 4000, Height: 4000}}}
	for _, tt := range []struct {
		model string
		want  int
	}{{"gpt-4o", 769}, {"claude-sonnet-4-5", 4 + 1329}, {"claude-haiku-4-5", 4 + 1329}, {"gemini-3-pro", 1124}, {"gpt-4o", 769}} {
		m.For(&precis.Conversation{Model: tt.model, Transcript: &precis.Transcript{}})
		if got := m.Message(msg); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.model, got, tt.want)
		}
	}
	fixed, err := tokens.New(tokens.Options{Images: tokens.ImagesGemini3})
	if err != nil {
		t.Fatal(err)
	}
	if got := fixed.(precis.ModelCounter).ForModel("gpt-4o").Count(msg); got != 1124 {
		t.Errorf("a rule that was chosen: %d", got)
	}
}

func FuzzOpaque(f *testing.F) {
	picture, sound, pdf := b64(pngOf(3, 3)), b64(wavOf(0.01, 8000)), b64(pdfOf(2, 10))
	for _, raw := range []string{
		`{"type":"image_generation_call","result":"` + picture + `"}`, `{"type":"input_audio","input_audio":{"data":"` + sound + `","format":"wav"}}`,
		`{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"` + pdf + `"}}`, `{"type":"reasoning","encrypted_content":"` + sealed(900) + `","summary":[]}`,
		`{"type":"computer_screenshot","image_url":"data:image/png;base64,` + picture + `"}`, `{"a":[1,true,null,{"b":"c"}],"type":"x"}`, `"text"`, `[`, `{"type":`, "\xff",
	} {
		f.Add([]byte(raw), "x")
	}
	f.Fuzz(func(t *testing.T, raw []byte, kind string) {
		for _, model := range []string{"gpt-5.5", "claude-opus-5-5", "gemini-2.5-pro"} {
			b := precis.Opaque{Type: kind, Raw: raw}
			n := countFor(t, model, b)
			if n < 1 || n != countFor(t, model, b) {
				t.Fatalf("%s counts %d, then %d", model, n, countFor(t, model, b))
			}
			if n > 40_000*(len(raw)/10+1) {
				t.Fatalf("%s counts %d for %d bytes", model, n, len(raw))
			}
		}
	})
}

func FuzzMedia(f *testing.F) {
	for media, data := range map[string][]byte{
		"image/png": pngOf(9, 9), "image/jpeg": jpegOf(9, 9), "image/gif": gifOf(9, 9), "image/webp": webpOf(9, 9), "audio/wav": wavOf(0.01, 8000), "audio/mpeg": mp3Of(0.1, 64, 7),
		"application/pdf": pdfOf(2, 9), "text/plain": []byte("words"), "": []byte("OggS\x00\x00"), "audio/flac": []byte("fLaC\x00\x00\x00\x22"),
	} {
		f.Add(media, data)
	}
	f.Fuzz(func(t *testing.T, media string, data []byte) {
		for _, b := range []precis.Block{precis.Document{MediaType: media, Data: b64(data)}, precis.Document{MediaType: media, Data: string(data)}, precis.Image{MediaType: media, Data: b64(data)}} {
			if n := countFor(t, "gpt-4o", b); n < 0 || n > 500*(len(data)+200) { // a page of a PDF takes at least leastPage bytes
				t.Fatalf("%T of %d bytes counts %d", b, len(data), n)
			}
		}
	})
}

func BenchmarkOpaquePicture(b *testing.B) {
	raw := json.RawMessage(`{"type":"image_generation_call","result":"` + b64(noisePNG(640, 640)) + `"}`)
	c := counter(b, "")
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		c.Count(precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{precis.Opaque{Type: "x", Raw: raw}}})
	}
}
