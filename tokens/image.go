package tokens

import (
	"encoding/base64"
	"image"
	_ "image/gif"  // to read sizes
	_ "image/jpeg" // to read sizes
	_ "image/png"  // to read sizes
	"math"
	"strings"

	_ "golang.org/x/image/webp" // to read sizes

	"precis"
)

// ImageRule is a provider's way of turning pixels into tokens.
type ImageRule string

// The image rules.
const (
	// ImagesAnthropic: width × height / 750, after the longer side is brought to
	// 1568 pixels and the whole to at most 1600 tokens (Anthropic's vision guide).
	ImagesAnthropic ImageRule = "anthropic"
	// ImagesOpenAI: 85 + 170 for each 512-pixel tile, after fitting into 2048 ×
	// 2048 and bringing the shorter side to 768 (OpenAI's images guide, high detail).
	ImagesOpenAI ImageRule = "openai"
	// ImagesGemini: 258 for each tile of 768 pixels; small images are one tile
	// (Google's token guide).
	ImagesGemini ImageRule = "gemini"
)

func (r ImageRule) valid() bool {
	return r == ImagesAnthropic || r == ImagesOpenAI || r == ImagesGemini
}

// unknownImage is what an image of unknown size counts: the most a rule gives
// for a usual screenshot.
var unknownImage = map[ImageRule]int{ImagesAnthropic: 1600, ImagesOpenAI: 1105, ImagesGemini: 1548}

// ImageTokens returns the tokens of an image by a provider's rule. The size is
// read from the image when it is not given; an image that cannot be read counts
// like a large screenshot.
func ImageTokens(b precis.Image, rule ImageRule) int {
	w, h := float64(b.Width), float64(b.Height)
	if w <= 0 || h <= 0 {
		w, h = size(b.Data)
	}
	if w <= 0 || h <= 0 {
		return unknownImage[rule]
	}
	switch rule {
	case ImagesOpenAI:
		scale := min(1, 2048/max(w, h))
		scale *= min(1, 768/(min(w, h)*scale))
		return 85 + 170*tiles(w*scale, h*scale, 512)
	case ImagesGemini:
		if w <= 384 && h <= 384 {
			return 258
		}
		return 258 * tiles(w, h, 768)
	default:
		scale := min(1, 1568/max(w, h))
		return min(1600, int(math.Ceil(w*scale*h*scale/750)))
	}
}

func tiles(w, h, side float64) int {
	return int(math.Ceil(w/side) * math.Ceil(h/side))
}

// size reads the pixel size from base64 data, without decoding the picture.
func size(data string) (w, h float64) {
	if data == "" {
		return 0, 0
	}
	c, _, err := image.DecodeConfig(base64.NewDecoder(base64.StdEncoding, strings.NewReader(data)))
	if err != nil {
		return 0, 0
	}
	return float64(c.Width), float64(c.Height)
}
