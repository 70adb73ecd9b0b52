package tokens

import (
	"bytes"
	"image"
	_ "image/gif"  // to read sizes
	_ "image/jpeg" // to read sizes
	_ "image/png"  // to read sizes
	"math"
	"slices"
	"strings"

	_ "golang.org/x/image/webp" // to read sizes

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// ImageRule is a provider's conversion of pixels into tokens, as stated in the providers' guides in
// November 2026.
type ImageRule string

// The image rules.
const (
	// ImagesAnthropic: a token for each patch of 28 × 28 pixels, after the longer
	// side is brought to 1568 pixels and the whole to 1568 tokens (Anthropic's
	// vision guide; width × height / 750 in older editions).
	ImagesAnthropic ImageRule = "anthropic"
	// ImagesAnthropicLarge: the same up to 2576 pixels and 4784 tokens, from Claude
	// Opus 4.7 on.
	ImagesAnthropicLarge ImageRule = "anthropic-large"
	// ImagesOpenAI: 85 + 170 for each tile of 512 × 512 pixels, after fitting into
	// 2048 × 2048 and bringing the shorter side to 768 (OpenAI's images guide):
	// GPT-4o, GPT-4.1.
	ImagesOpenAI ImageRule = "openai"
	// ImagesOpenAIPatches: 1.2 for each patch of 32 × 32 pixels, after fitting into
	// 2048 × 2048 and 2,500 patches, in original detail 6000 × 6000 and 10,000
	// patches: GPT-5.4. The other models of OpenAI differ in the numbers, see
	// [ImageRuleOf].
	ImagesOpenAIPatches ImageRule = "openai-patches"
	// ImagesGemini: 258 for each tile of 768 pixels; small images are one tile
	// (Google's token guide): Gemini 2 and older.
	ImagesGemini ImageRule = "gemini"
	// ImagesGemini3: 1120 for any image, from Gemini 3 on.
	ImagesGemini3 ImageRule = "gemini-3"
)

// scheme is the formula of a rule: patches, tiles, or a fixed number per image.
type scheme struct {
	patch             float64 // side of a patch in pixels; 0: no patches
	maxSide           float64 // limit for the longer side; larger images are scaled down
	budget            float64 // limit for the number of patches
	times             float64 // tokens per patch
	originalByDefault bool    // without a stated detail, original applies

	base, tile float64 // tokens
	flat       int     // tokens of every image
	pdfPage    int     // tokens of a PDF page in total; 0: text plus image
}

var schemes = map[ImageRule]scheme{
	ImagesAnthropic:      {patch: 28, maxSide: 1568, budget: 1568, times: 1},
	ImagesAnthropicLarge: {patch: 28, maxSide: 2576, budget: 4784, times: 1},
	ImagesOpenAI:         {base: 85, tile: 170},
	ImagesOpenAIPatches:  {patch: 32, maxSide: 2048, budget: 2500, times: 1.2},
	"openai-full":        {patch: 32, maxSide: 2048, budget: 2500, times: 1.2, originalByDefault: true},
	"openai-small-1.2":   {patch: 32, maxSide: 2048, budget: 1536, times: 1.2},
	"openai-small-1.5":   {patch: 32, maxSide: 2048, budget: 1536, times: 1.5},
	"openai-small-1.62":  {patch: 32, maxSide: 2048, budget: 1536, times: 1.62},
	"openai-small-1.72":  {patch: 32, maxSide: 2048, budget: 1536, times: 1.72},
	"openai-small-2.46":  {patch: 32, maxSide: 2048, budget: 1536, times: 2.46},
	"openai-tiles-5":     {base: 70, tile: 140},
	"openai-tiles-o":     {base: 75, tile: 150},
	"openai-tiles-mini":  {base: 2833, tile: 5667},
	"openai-tiles-cua":   {base: 65, tile: 129},
	ImagesGemini:         {pdfPage: 258},
	ImagesGemini3:        {flat: 1120, pdfPage: 560},
}

// original are the limits for the detail "original", with patches of 32 pixels.
var original = scheme{maxSide: 6000, budget: 10_000}

func (r ImageRule) valid() bool { _, ok := schemes[r]; return ok }

// ofOpenAI maps prefixes of model names to rules; the first match counts. The multipliers of GPT-5
// mini and nano are measured.
var ofOpenAI = []struct {
	names []string
	rule  ImageRule
}{
	{[]string{"gpt-4o-mini"}, "openai-tiles-mini"},
	{[]string{"gpt-4.1-mini"}, "openai-small-1.62"},
	{[]string{"gpt-4.1-nano"}, "openai-small-2.46"},
	{[]string{"gpt-4", "chatgpt-4"}, ImagesOpenAI},
	{[]string{"o4-mini"}, "openai-small-1.72"},
	{[]string{"o1", "o3"}, "openai-tiles-o"},
	{[]string{"computer-use"}, "openai-tiles-cua"},
	{[]string{"gpt-5-nano"}, "openai-small-1.5"},
	{[]string{"gpt-5-mini", "gpt-5-codex-mini", "gpt-5.1-codex-mini", "gpt-5.2", "gpt-5.3"},
		"openai-small-1.2"},
	{[]string{"gpt-5.4"}, ImagesOpenAIPatches},
	{[]string{"gpt-5.1", "gpt-5-", "codex-mini"}, "openai-tiles-5"},
	{[]string{"gpt-5.", "gpt-6", "gpt-7"}, "openai-full"},
	{[]string{"gpt-5"}, "openai-tiles-5"},
}

// ImageRuleOf returns the image rule of a model, chosen by its name. An unknown
// name gets [ImagesAnthropic], which counts high for images of common sizes.
func ImageRuleOf(model string) ImageRule {
	name := strings.ToLower(model)
	if strings.Contains(name, "claude") {
		if newerClaude(name) {
			return ImagesAnthropicLarge
		}
		return ImagesAnthropic
	}
	name = name[strings.LastIndexAny(name, "/:")+1:]
	for _, m := range ofOpenAI {
		if slices.ContainsFunc(m.names, func(n string) bool { return strings.HasPrefix(name, n) }) {
			return m.rule
		}
	}
	switch {
	case strings.Contains(name, "gemini-1"), strings.Contains(name, "gemini-2"):
		return ImagesGemini
	case strings.Contains(name, "gemini"):
		return ImagesGemini3
	}
	return ImagesAnthropic
}

// usual is the assumed size of an image with unknown size: a large screenshot.
var usual = pixels{1920, 1080}

type pixels struct{ w, h float64 }

// ImageTokens returns the tokens of an image by a provider's rule. If the size is not given, it is
// read from at most the first [headBytes] of the image; an unreadable image counts like a large
// screenshot.
func ImageTokens(b precis.Image, rule ImageRule) int {
	size := pixels{float64(b.Width), float64(b.Height)}
	if size.w <= 0 || size.h <= 0 {
		size = sizeOf(b.Data)
	}
	return imageTokens(size, rule, detailOf(b.Raw))
}

func imageTokens(p pixels, rule ImageRule, detail string) int {
	if p.w <= 0 || p.h <= 0 {
		p = usual
	}
	s, ok := schemes[rule]
	if !ok {
		s = schemes[ImagesAnthropic]
	}
	switch {
	case s.flat > 0:
		return s.flat
	case s.patch > 0:
		return s.patches(p, detail)
	case s.tile > 0:
		if detail == "low" {
			return int(s.base)
		}
		scale := min(1, 2048/max(p.w, p.h))
		scale *= min(1, 768/(min(p.w, p.h)*scale))
		return int(s.base + s.tile*tiles(p.w*scale, p.h*scale, 512))
	case p.w <= 384 && p.h <= 384:
		return 258
	}
	return int(258 * tiles(p.w, p.h, 768))
}

func (s scheme) patches(p pixels, detail string) int {
	side, budget := s.maxSide, s.budget
	switch {
	case detail == "low":
		side = 512
	case detail == "original", s.originalByDefault && detail != "high":
		side, budget = original.maxSide, original.budget
	}
	scale := min(1, side/max(p.w, p.h))
	if n := tiles(p.w*scale, p.h*scale, s.patch); n > budget {
		scale *= math.Sqrt(budget / n)
	}
	return int(math.Ceil(s.times * min(budget, tiles(p.w*scale, p.h*scale, s.patch))))
}

func tiles(w, h, side float64) float64 { return math.Ceil(w/side) * math.Ceil(h/side) }

// detailOf returns the detail that an OpenAI request states for an image; "" if none.
func detailOf(raw []byte) string {
	if raw == nil || !bytes.Contains(raw, []byte(`"detail"`)) {
		return ""
	}
	detail := jsonspan.Field(raw, "detail")
	if detail == nil {
		detail = jsonspan.Field(jsonspan.Field(raw, "image_url"), "detail")
	}
	s, _ := jsonspan.String(detail)
	return s
}

// sizeOf reads the pixel size from base64 data, without decoding the image.
func sizeOf(data string) pixels {
	if data == "" {
		return pixels{}
	}
	c, _, err := image.DecodeConfig(bytes.NewReader(decodeHead(data, headBytes)))
	if err != nil {
		return pixels{}
	}
	return pixels{float64(c.Width), float64(c.Height)}
}
