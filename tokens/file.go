package tokens

import (
	"bytes"
	"strings"

	"github.com/precis-dev/precis"
)

// Models get a page of a PDF as its text and as an image. Anthropic states 1,500 to 3,000 text
// tokens per page plus an image of each (PDF guide); we measured about 460 o200k tokens for a page
// full of words, and 1,600 for its image. OpenAI sends text and image, too (guide to file inputs).
// Google charges a fixed number, see [scheme].
const pageText = 500

// page is the size of the image.
var page = pixels{1024, 1325}

// Assumed number of pages of a file without content in the request.
const unknownPages = 3

func (m media) pdfTokens(pages int) int {
	if n := schemes[m.rule].pdfPage; n > 0 {
		return pages * m.scaled(n)
	}
	return pages * (pageText + m.scaled(imageTokens(page, m.rule, "")))
}

// kind is the format of data.
type kind int

const (
	unknownKind kind = iota
	imageKind
	audioKind
	pdfKind
	textKind
	sealedKind
)

var signatures = []struct {
	begin string
	kind  kind
}{
	{"\x89PNG\r\n\x1a\n", imageKind}, {"\xff\xd8\xff", imageKind}, {"GIF8", imageKind},
	{"%PDF-", pdfKind}, {"fLaC", audioKind}, {"OggS", audioKind}, {"ID3", audioKind},
	{"\x80\x00\x00\x00", sealedKind}, // Fernet: the version and the high bytes of a time
}

// sniff returns the format of data by its first bytes; unknownKind makes no statement.
func sniff(head []byte) kind {
	for _, s := range signatures {
		if bytes.HasPrefix(head, []byte(s.begin)) {
			return s.kind
		}
	}
	if bytes.HasPrefix(head, []byte("RIFF")) && len(head) >= 12 {
		switch string(head[8:12]) {
		case "WEBP":
			return imageKind
		case "WAVE":
			return audioKind
		}
	}
	if isMP3(head) {
		return audioKind
	}
	return unknownKind
}

// kindOf returns the format of base64 data: by its first bytes, else by its media type.
func kindOf(mediaType, data string) kind {
	if k := sniff(decodeHead(data, 48)); k != unknownKind {
		return k
	}
	switch {
	case strings.HasPrefix(mediaType, "image/"):
		return imageKind
	case strings.HasPrefix(mediaType, "audio/"):
		return audioKind
	case mediaType == "application/pdf":
		return pdfKind
	case strings.HasPrefix(mediaType, "text/"), mediaType == "application/json",
		mediaType == "application/xml":
		return textKind
	}
	return unknownKind
}

// textTokens estimates text given as base64: four bytes per token.
func textTokens(data string) int { return decodedLen(data) / 4 }

// officeTokens estimates a compressed office document: half a token per four bytes, for its text
// only.
func officeTokens(data string) int { return min(decodedLen(data)/8, 50_000) }

// documentTokens counts a document: its text if given, else its data by format; text counts text.
func (m media) documentTokens(b precis.Document, role precis.Role, text func(string) int) int {
	n := text(b.Title)
	switch {
	case b.Text != "":
		return n + text(b.Text)
	case b.Data != "":
		return n + m.fileTokens(b.MediaType, b.Data, role)
	case b.Raw != nil:
		return m.opaqueTokens(precis.Opaque{Type: "document", Raw: b.Raw}, role, text)
	case b.URL != "":
		return n + m.pdfTokens(unknownPages)
	}
	return n
}

// fileTokens counts the base64 data of a file.
func (m media) fileTokens(mediaType, data string, role precis.Role) int {
	switch kindOf(strings.ToLower(mediaType), data) {
	case imageKind:
		return m.scaled(imageTokens(sizeOf(data), m.rule, ""))
	case audioKind:
		return m.scaled(m.audioTokens(seconds(data), role))
	case textKind:
		return textTokens(data)
	case sealedKind:
		return sealedTokens(len(data))
	case pdfKind:
		return m.pdfTokens(pdfPages(data))
	}
	if mediaType == "" {
		return m.pdfTokens(1 + decodedLen(data)/pageBytes) // most files are PDF
	}
	return officeTokens(data)
}
