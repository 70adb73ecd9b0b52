package tokens_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"math"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/measure"
	"github.com/precis-dev/precis/tokens"
)

func counter(t testing.TB, name string) precis.Counter {
	t.Helper()
	c, err := tokens.New(tokens.Options{Name: name})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestACounterLoadsItsTablesWhenItCounts asks a process of its own, in which nothing was counted yet.
func TestACounterLoadsItsTablesWhenItCounts(t *testing.T) {
	const env, tables = "PRECIS_TEST_TABLES", 1 << 20 // bytes; the tables are larger
	if os.Getenv(env) == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), env+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return
	}
	allocated := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.TotalAlloc
	}
	for _, name := range []string{tokens.NameO200k, tokens.NameCl100k} {
		start := allocated()
		c := counter(t, name)
		measure.New(c)
		made := allocated()
		c.Count(precis.NewText("user", "hello world"))
		if counted := allocated(); made-start > tables || counted-made < tables {
			t.Errorf("%s: %d bytes to make it, %d to count", name, made-start, counted-made)
		}
	}
}

func TestCountersThatCountAlikeAreEqual(t *testing.T) {
	for _, name := range []string{tokens.NameO200k, tokens.NameCl100k, tokens.NameChars4} {
		if a, b := counter(t, name), counter(t, name); a != b {
			t.Errorf("%s: two counters are not equal", name)
		}
	}
	if counter(t, tokens.NameO200k) == counter(t, tokens.NameCl100k) {
		t.Error("counters of two vocabularies are equal")
	}
}

func TestCountersCountEveryKindOfBlock(t *testing.T) {
	blocks := map[string]precis.Block{
		"text":     precis.Text{Text: "hello world"},
		"thinking": precis.Thinking{Text: "hello world"},
		"redacted": precis.RedactedThinking{Data: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},
		"tool use": precis.ToolUse{Name: "ls", Input: []byte(`{"path":"."}`)},
		"result":   precis.ToolResult{Content: []precis.Block{precis.Text{Text: "hello world"}}},
		"image":    precis.Image{Width: 300, Height: 300},
		"document": precis.Document{Text: "hello world"},
		"pdf":      precis.Document{Data: "aaaa"},
		"opaque":   precis.Opaque{Type: "x", Raw: []byte(`{"type":"x"}`)},
	}
	for _, name := range []string{tokens.NameO200k, tokens.NameCl100k, tokens.NameChars4} {
		c := counter(t, name)
		empty := c.Count(precis.Message{Role: "user"})
		for what, b := range blocks {
			if n := c.Count(precis.Message{Role: "user", Content: []precis.Block{b}}); n <= empty {
				t.Errorf("%s: %s counts %d", name, what, n)
			}
		}
		if empty != 0 {
			t.Errorf("%s: a message without content counts %d", name, empty)
		}
	}
	if n := counter(t, "roo").Count(precis.Message{Content: []precis.Block{blocks["thinking"], blocks["document"], blocks["opaque"]}}); n != 0 {
		t.Errorf("roo counts thinking, documents and unknown blocks: %d", n)
	}
}

func TestExactCounterAddsFraming(t *testing.T) {
	c := counter(t, tokens.NameO200k)
	text := tokens.O200k().Count("hello world")
	if got := c.Count(precis.NewText("user", "hello world")); got != text+4 {
		t.Errorf("%d, want %d and the message's frame", got, text)
	}
}

func TestChars4IsWhatPythonWouldDump(t *testing.T) {
	// json.dumps writes {"a": "x y", "b": [1, 2]}: 25 characters.
	u := precis.ToolUse{Name: "name", Input: json.RawMessage(`{ "a":"x y",   "b":[1,2]}`)}
	if got := counter(t, "chars4").Count(precis.Message{Content: []precis.Block{u}}); got != (4+25+3)/4 {
		t.Errorf("%d", got)
	}
	if got := counter(t, "chars4").Count(precis.NewText("user", "日本語です")); got != 2 {
		t.Errorf("characters, not bytes: %d", got)
	}
}

func TestImageRules(t *testing.T) {
	for _, tt := range []struct {
		rule tokens.ImageRule
		w, h int
		want int
	}{
		// the table of Anthropic's vision guide
		{tokens.ImagesAnthropic, 200, 200, 64}, {tokens.ImagesAnthropic, 1000, 1000, 1296}, {tokens.ImagesAnthropic, 1092, 1092, 1521},
		{tokens.ImagesAnthropic, 4000, 4000, 1568}, {tokens.ImagesAnthropic, 3000, 500, 560},
		{tokens.ImagesAnthropicLarge, 1000, 1000, 1296}, {tokens.ImagesAnthropicLarge, 1932, 1932, 4761}, {tokens.ImagesAnthropicLarge, 2576, 1449, 4784}, {tokens.ImagesAnthropicLarge, 8000, 8000, 4784},
		// the examples of OpenAI's images guide
		{tokens.ImagesOpenAI, 1024, 1024, 765}, {tokens.ImagesOpenAI, 2048, 4096, 1105}, {tokens.ImagesOpenAI, 100, 100, 255},
		{tokens.ImagesOpenAIPatches, 1024, 1024, 1229}, {tokens.ImagesOpenAIPatches, 1600, 1600, 3000}, {tokens.ImagesOpenAIPatches, 6000, 6000, 3000},
		{tokens.ImagesGemini, 300, 300, 258}, {tokens.ImagesGemini, 960, 540, 516}, {tokens.ImagesGemini3, 960, 540, 1120},
		{tokens.ImagesAnthropic, 0, 0, 1568}, {tokens.ImagesOpenAI, 0, 0, 1105}, {tokens.ImagesGemini, 0, 0, 1548},
	} {
		if got := tokens.ImageTokens(precis.Image{Width: tt.w, Height: tt.h}, tt.rule); got != tt.want {
			t.Errorf("%s %d×%d: %d, want %d", tt.rule, tt.w, tt.h, got, tt.want)
		}
	}
}

func TestImageSizeIsReadFromTheData(t *testing.T) {
	img := image.NewGray(image.Rect(0, 0, 750, 100))
	var p, j bytes.Buffer
	if err := png.Encode(&p, img); err != nil {
		t.Fatal(err)
	}
	if err := jpeg.Encode(&j, img, nil); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"png": p.Bytes(), "jpeg": j.Bytes()} {
		b := precis.Image{MediaType: "image/" + name, Data: base64.StdEncoding.EncodeToString(data)}
		if got := tokens.ImageTokens(b, tokens.ImagesAnthropic); got != 108 {
			t.Errorf("%s: %d tokens, want 108", name, got)
		}
		b.Data = b.Data[:20]
		if got := tokens.ImageTokens(b, tokens.ImagesAnthropic); got != 1568 {
			t.Errorf("%s cut off: %d tokens", name, got)
		}
	}
}

func TestUnknownNamesAreRefused(t *testing.T) {
	for _, o := range []tokens.Options{{Name: "words"}, {Images: "cubist"}} {
		if _, err := tokens.New(o); precis.CodeOf(err) != precis.CodeInvalid {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func TestCalibrationLearnsARatio(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		truth := rapid.Float64Range(0.6, 2.8).Draw(t, "ratio")
		var c tokens.Calibration
		for range rapid.IntRange(12, 30).Draw(t, "reports") {
			n := rapid.IntRange(1000, 100_000).Draw(t, "counted")
			c.Observe("m", n, int(float64(n)*truth))
		}
		if f := c.Factor("m"); math.Abs(f-truth) > 0.01*truth {
			t.Fatalf("factor %g, want %g", f, truth)
		}
		var copied tokens.Calibration
		if err := copied.SetState("m", c.State("m")); err != nil || copied.Factor("m") != c.Factor("m") {
			t.Fatalf("state is lost: %v", err)
		}
	})
}

func TestCalibrationIgnoresWhatIsNoRatio(t *testing.T) {
	var c tokens.Calibration
	c.Observe("m", 10, 20)
	c.Observe("m", 10_000, 100)
	c.Observe("m", 10_000, 90_000)
	c.Observe("m", 10_000, 0)
	if c.Reports("m") != 0 || c.Factor("m") != 1 || c.State("m") != nil {
		t.Error("an impossible report was believed")
	}
	for _, state := range []string{"", "{", `{"log":9,"reports":1}`, `{"log":0,"reports":0}`} {
		if err := c.SetState("m", []byte(state)); precis.CodeOf(err) != precis.CodeInvalid {
			t.Errorf("state %q: %v", state, err)
		}
	}
}

func TestFamilyFactors(t *testing.T) {
	for model, want := range map[string]float64{
		"claude-sonnet-4-5-20250929": 1.18, "anthropic/claude-opus-4.6": 1.18, "claude-3-5-sonnet": 1.18,
		"claude-opus-4-7": 1.5, "claude-opus-5-5": 1.5, "us.anthropic.claude-sonnet-5-5-v1:0": 1.5,
		"gpt-5.1-codex": 1, "llama-3": 1, "": 1,
	} {
		if got, _ := tokens.FamilyFactor(model); got != want {
			t.Errorf("%s: %g, want %g", model, got, want)
		}
	}
}

func ExampleNew() {
	c, err := tokens.New(tokens.Options{})
	if err != nil {
		panic(err)
	}
	fmt.Println(c.Name(), c.Count(precis.NewText(precis.RoleUser, "Keep the rule, drop the noise.")))
	// Output: o200k 12
}

func BenchmarkMessage(b *testing.B) {
	m := precis.Message{Role: "user", Content: []precis.Block{precis.ToolResult{Content: []precis.Block{precis.Text{Text: string(bytes.Repeat([]byte("func main() { fmt.Println(x) }\n"), 200))}}}}}
	for _, name := range tokens.Names() {
		c := counter(b, name)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(6400)
			for b.Loop() {
				c.Count(m)
			}
		})
	}
}
