package responses

import (
	"encoding/json"
	"fmt"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/content"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/wire/chat"
)

// decodeContent reads a string or a list of parts. Empty text has no block.
func decodeContent(raw []byte) ([]precis.Block, error) {
	return content.Decode(raw, "part", decodePart)
}

// texts are the types of parts that are text.
var texts = map[string]bool{"input_text": true, "output_text": true, "text": true, "summary_text": true,
	"reasoning_text": true, "refusal": true}

func decodePart(raw []byte) (precis.Block, error) {
	f, err := jsonspan.Fields(raw)
	if err != nil {
		return nil, err
	}
	text := func(name string) string { s, _ := jsonspan.String(f[name]); return s }
	kind, ok := jsonspan.String(f["type"])
	if !ok || kind == "" {
		return nil, fmt.Errorf("the part has no type")
	}
	if texts[kind] {
		field := "text"
		if kind == "refusal" {
			field = kind
		}
		s, ok := jsonspan.String(f[field])
		if !ok {
			return nil, fmt.Errorf("%s of a part of type %s is no string", field, kind)
		}
		return precis.Text{Text: s, Raw: raw}, nil
	}
	switch kind {
	case "input_image":
		if url, ok := jsonspan.String(f["image_url"]); ok {
			return image(url, raw), nil
		}
	case "input_file":
		d := precis.Document{Title: text("filename"), URL: text("file_url"), Raw: raw}
		if data := text("file_data"); data != "" {
			if d.MediaType, d.Data, ok = chat.SplitDataURL(data); !ok {
				d.Data = data
			}
		}
		if d.URL != "" || d.Data != "" {
			return d, nil
		}
	}
	return precis.Opaque{Type: kind, Raw: raw}, nil
}

func image(url string, raw json.RawMessage) precis.Block {
	media, data, ok := chat.SplitDataURL(url)
	if ok {
		url = ""
	}
	return precis.Image{MediaType: media, Data: data, URL: url, Raw: raw}
}
