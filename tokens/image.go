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

	"precis"
	"precis/internal/jsonspan"
)

// ImageRule is a provider's way of turning pixels into tokens. The rules are
// those of the providers' guides as of November 2026.
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

// scheme is how a rule counts: patches of some pixels, tiles of some pixels, or
// a number for any image.
type scheme struct {
	patch  float64 // pixels a side; 0: no patches
	side   float64 // longer side it is brought to
	budget float64 // patches it is brought to
	times  float64 // tokens a patch
	full   bool    // without a detail it is original: see original

	base, tile float64 // tokens
	flat       int     // tokens of any image
	pdfPage    int     // tokens of a PDF's page, all in all; 0: its text and image
}

var schemes = map[ImageRule]scheme{
	ImagesAnthropic:      {patch: 28, side: 1568, budget: 1568, times: 1},
	ImagesAnthropicLarge: {patch: 28, side: 2576, budget: 4784, times: 1},
	ImagesOpenAI:         {base: 85, tile: 170},
	ImagesOpenAIPatches:  {patch: 32, side: 2048, budget: 2500, times: 1.2},
	"openai-full":        {patch: 32, side: 2048, budget: 2500, times: 1.2, full: true},
	"openai-small-1.2":   {patch: 32, side: 2048, budget: 1536, times: 1.2},
	"openai-small-1.5":   {patch: 32, side: 2048, budget: 1536, times: 1.5},
	"openai-small-1.62":  {patch: 32, side: 2048, budget: 1536, times: 1.62},
	"openai-small-1.72":  {patch: 32, side: 2048, budget: 1536, times: 1.72},
	"openai-small-2.46":  {patch: 32, side: 2048, budget: 1536, times: 2.46},
	"openai-tiles-5":     {base: 70, tile: 140},
	"openai-tiles-o":     {base: 75, tile: 150},
	"openai-tiles-mini":  {base: 2833, tile: 5667},
	"openai-tiles-cua":   {base: 65, tile: 129},
	ImagesGemini:         {pdfPage: 258},
	ImagesGemini3:        {flat: 1120, pdfPage: 560},
}

// original is what the detail of that name allows, with patches of 32 pixels.
var original = scheme{side: 6000, budget: 10_000}

func (r ImageRule) valid() bool { _, ok := schemes[r]; return ok }

// ofOpenAI maps what a model's name begins with to its rule; the first that fits
// counts. The multipliers of GPT-5 mini and nano are those that were measured.
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
	{[]string{"gpt-5-mini", "gpt-5-codex-mini", "gpt-5.1-codex-mini", "gpt-5.2", "gpt-5.3"}, "openai-small-1.2"},
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

// usual is the size of a picture whose size nobody knows: a large screenshot.
var usual = pixels{1920, 1080}

type pixels struct{ w, h float64 }

// ImageTokens returns the tokens of an image by a provider's rule. The size is
// read from the image when it is not given; an image that cannot be read counts
// like a large screenshot. At most the first [headBytes] of it are looked at.
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
	side, budget := s.side, s.budget
	switch {
	case detail == "low":
		side = 512
	case detail == "original", s.full && detail != "high":
		side, budget = original.side, original.budget
	}
	scale := min(1, side/max(p.w, p.h))
	if n := tiles(p.w*scale, p.h*scale, s.patch); n > budget {
		scale *= math.Sqrt(budget / n)
	}
	return int(math.Ceil(s.times * min(budget, tiles(p.w*scale, p.h*scale, s.patch))))
}

func tiles(w, h, side float64) float64 { return math.Ceil(w/side) * math.Ceil(h/side) }

// detailOf returns what an OpenAI request says of the detail of an image; "" for
// nothing.
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

// sizeOf reads the pixel size from base64 data, without decoding the picture.
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
