package chat

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/content"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// DecodeContent reads a message's content: a string, which counts as one text
// block, an array of parts, or null. Empty text has no block.
func DecodeContent(raw []byte) ([]precis.Block, error) {
	return content.Decode(raw, "part", decodePart)
}

func decodePart(raw []byte) (precis.Block, error) {
	if jsonspan.Kind(raw) == '"' {
		s, _ := jsonspan.String(raw)
		return precis.Text{Text: s, Raw: raw}, nil
	}
	f, err := jsonspan.Fields(raw)
	if err != nil {
		return nil, err
	}
	kind, ok := jsonspan.String(f["type"])
	if !ok || kind == "" {
		return nil, fmt.Errorf("the part has no type")
	}
	switch kind {
	case "text", "refusal":
		s, err := text(kind, f[kind])
		return precis.Text{Text: s, Raw: raw}, err
	case "image_url":
		url, ok := innerText(f["image_url"], "url")
		if !ok {
			return nil, fmt.Errorf("image_url has no url")
		}
		media, data, isData := SplitDataURL(url)
		if isData {
			url = ""
		}
		return precis.Image{MediaType: media, Data: data, URL: url, Raw: raw}, nil
	case "file":
		if b, ok := decodeFile(f["file"], raw); ok {
			return b, nil
		}
	}
	return precis.Opaque{Type: kind, Raw: raw}, nil
}

// innerText returns a string that is given directly or in a field of an object.
func innerText(raw []byte, field string) (string, bool) {
	if jsonspan.Kind(raw) != '{' {
		return jsonspan.String(raw)
	}
	f, err := jsonspan.Fields(raw)
	if err != nil {
		return "", false
	}
	return jsonspan.String(f[field])
}

// decodeFile decodes a file with inline data; a file given only by an ID stays opaque.
func decodeFile(file, raw json.RawMessage) (precis.Block, bool) {
	if jsonspan.Kind(file) != '{' {
		return nil, false
	}
	f, err := jsonspan.Fields(file)
	if err != nil {
		return nil, false
	}
	url, ok := jsonspan.String(f["file_data"])
	if !ok {
		return nil, false
	}
	d := precis.Document{Raw: raw}
	d.Title, _ = jsonspan.String(f["filename"])
	if d.MediaType, d.Data, ok = SplitDataURL(url); !ok {
		d.Data = url
	}
	return d, true
}

// SplitDataURL returns the media type and base64 data of a data: URL. ok is
// false for any other URL, and then the rest is empty.
func SplitDataURL(url string) (media, data string, ok bool) {
	rest, ok := strings.CutPrefix(url, "data:")
	if !ok {
		return "", "", false
	}
	head, data, ok := strings.Cut(rest, ",")
	if !ok || !strings.HasSuffix(head, ";base64") {
		return "", "", false
	}
	media, _, _ = strings.Cut(head, ";")
	return media, data, true
}
