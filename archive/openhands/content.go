package openhands

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/wire/chat"
)

// content reads a string or a list of text and image blocks.
func content(raw json.RawMessage) []precis.Block {
	if s, ok := jsonspan.String(raw); ok {
		return []precis.Block{precis.Text{Text: s}}
	}
	var out []precis.Block
	for _, span := range jsonspan.Elements(raw) {
		f := jsonspan.Members(span)
		switch kind := jsonspan.Text(f, "type"); kind {
		case "text":
			out = append(out, precis.Text{Text: jsonspan.Text(f, "text")})
		case "image":
			out = append(out, images(f["image_urls"])...)
		default:
			out = append(out, precis.Opaque{Type: kind, Raw: span})
		}
	}
	return out
}

// images reads a list of image URLs, including data URLs.
func images(raw json.RawMessage) []precis.Block {
	var out []precis.Block
	for _, span := range jsonspan.Elements(raw) {
		url, ok := jsonspan.String(span)
		if !ok || url == "" {
			continue
		}
		media, data, isData := chat.SplitDataURL(url)
		if isData {
			url = ""
		}
		out = append(out, precis.Image{MediaType: media, Data: data, URL: url})
	}
	return out
}

// shell appends to a command's output the metadata that OpenHands shows the model.
func shell(meta map[string]json.RawMessage, blocks []precis.Block) []precis.Block {
	var b strings.Builder
	b.WriteString(jsonspan.Text(meta, "prefix"))
	b.WriteString((precis.ToolResult{Content: blocks}).Text())
	b.WriteString(jsonspan.Text(meta, "suffix"))
	if dir := jsonspan.Text(meta, "working_dir"); dir != "" {
		fmt.Fprintf(&b, "\n[Current working directory: %s]", dir)
	}
	if path := jsonspan.Text(meta, "py_interpreter_path"); path != "" {
		fmt.Fprintf(&b, "\n[Python interpreter: %s]", path)
	}
	if code := number(meta["exit_code"], -1); code != -1 {
		fmt.Fprintf(&b, "\n[Command finished with exit code %d]", code)
	}
	out := []precis.Block{precis.Text{Text: b.String()}}
	for _, block := range blocks {
		if _, ok := block.(precis.Text); !ok {
			out = append(out, block)
		}
	}
	return out
}
