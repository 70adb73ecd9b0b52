package tokens

import (
	"encoding/base64"
	"strings"
)

// headBytes is how much of an image or of audio is decoded at most: its header, which may hold a
// color profile and a small preview.
const headBytes = 256 << 10

// decodeHead returns the first n bytes of base64 data, fewer if the data ends or becomes invalid.
// It accepts white space and the URL alphabet.
func decodeHead(data string, n int) []byte { return decodeFrom(data, 0, n) }

// decodeFrom returns n bytes from the given offset, which is rounded down to a multiple of three.
func decodeFrom(data string, from, n int) []byte {
	start := from / 3 * 4
	if from < 0 || start >= len(data) {
		return nil
	}
	chars := data[start:min(len(data), start+(n+2)/3*4)]
	if strings.ContainsAny(chars, "-_ \r\n\t") {
		chars = plainBase64.Replace(chars)
	}
	chars = chars[:len(chars)/4*4]
	out := make([]byte, base64.StdEncoding.DecodedLen(len(chars)))
	got, _ := base64.StdEncoding.Decode(out, []byte(chars)) // bytes before an error count
	return out[:min(got, n)]
}

var plainBase64 = strings.NewReplacer("-", "+", "_", "/", " ", "", "\r", "", "\n", "", "\t", "")

// decodedLen returns the number of bytes that base64 data decodes to.
func decodedLen(data string) int { return len(data) / 4 * 3 }

// isBase64 reports whether all of a text can be base64.
func isBase64(s string) bool {
	for i := range len(s) {
		if c := s[i]; !base64Alphabet[c] {
			return false
		}
	}
	return s != ""
}

var base64Alphabet = func() (in [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=\r\n") {
		in[c] = true
	}
	return in
}()

// splitDataURL returns the media type and data of a data: URL in base64.
func splitDataURL(url string) (media, data string, ok bool) {
	rest, ok := strings.CutPrefix(url, "data:")
	if !ok {
		return "", "", false
	}
	const longest = 200 // a media type with parameters
	comma := strings.IndexByte(rest[:min(len(rest), longest)], ',')
	if comma < 0 || !strings.HasSuffix(strings.ToLower(rest[:comma]), ";base64") {
		return "", "", false
	}
	media, _, _ = strings.Cut(rest[:comma], ";")
	return strings.ToLower(media), rest[comma+1:], true
}
