package tokens

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/precis-dev/precis"
)

// sealedTokens estimates encrypted content by its length in base64: four decoded bytes per token.
// No provider states a number; Codex uses the same estimate (codex-rs, context_manager/history.rs).
func sealedTokens(chars int) int { return chars * 3 / 16 }

// reasoningTokens is the same for reasoning and compactions. Their first 650 bytes are an envelope,
// as in Codex.
func reasoningTokens(chars int) int { return max(chars*3/4-650, 0) / 4 }

// Member names of objects with unknown types.
var (
	// housekeeping members are for programs: the model does not read them.
	housekeeping = set("id", "status", "role", "format", "encoding", "cache_control", "image_url", "object")
	// words are members that the model reads as text, whatever their format.
	words = set("text", "content", "output", "arguments", "input", "code", "logs", "stdout", "stderr",
		"query", "queries", "title", "url", "snippet", "summary", "transcript",
		"name", "thinking", "reasoning", "command", "commands", "patch", "diff", "message", "error",
		"instructions", "revised_prompt", "caption", "filename", "context")
	// titles are words that only name a file.
	titles = set("title", "filename", "name", "context", "url", "caption")
	// images, files and sounds are types of media objects, also if these contain only an ID.
	images = set("image", "input_image", "image_url", "computer_screenshot", "image_generation_call")
	files  = set("document", "file", "input_file")
	sounds = set("audio", "input_audio", "output_audio")
	// enveloped are types with an envelope in their encrypted content.
	enveloped = set("reasoning", "compaction", "compaction_summary", "context_compaction", "thinking",
		"redacted_thinking")
)

func set(names ...string) map[string]bool {
	out := make(map[string]bool, len(names))
	for _, n := range names {
		out[n] = true
	}
	return out
}

// A text of base64 characters counts as data from longRun characters on, and from shortest on if it
// begins like a known format.
const longRun, shortest = 200, 48

// mostSealed bounds the tokens of unknown data, which may be an image in an unknown format.
const mostSealed = 8000

// media counts non-text content by the rule of a model. The zero value uses Anthropic's.
type media struct {
	rule  ImageRule
	scale float64 // factor for counts that the provider states, to cancel the model's own factor; 0: 1
}

func (m media) scaled(n int) int {
	if m.scale > 0 {
		return int(float64(n)*m.scale + 0.5)
	}
	return n
}

// opaqueTokens counts content of unknown type: its words as text, and images, audio, files and
// encrypted content by their formats. It reads the JSON once, and decodes only the beginning of
// data.
func (m media) opaqueTokens(b precis.Opaque, role precis.Role, text func(string) int) int {
	w := walker{media: m, role: role, words: text}
	d := jsontext.NewDecoder(bytes.NewBuffer(b.Raw), jsontext.AllowDuplicateNames(true),
		jsontext.AllowInvalidUTF8(true))
	w.push("")
	w.stack[0].kind = b.Type
	for {
		token, err := d.ReadToken()
		if err != nil {
			// invalid JSON is not expected
			w.stack[0].text += min((len(b.Raw)-int(d.InputOffset()))/4, mostSealed)
			break
		}
		w.token(token)
		if len(w.stack) == 1 { // the value has ended
			break
		}
	}
	for len(w.stack) > 1 {
		w.pop()
	}
	n, _ := w.stack[0].tokens(w)
	return max(n, 1)
}

// walker traverses a JSON value.
type walker struct {
	media
	role  precis.Role
	words func(string) int
	stack []frame // the open arrays and objects; the first is for the value itself
}

// frame holds the content of an array or object, including nested ones.
type frame struct {
	object   bool
	key      string // its name in the enclosing object
	name     string // name of the current member
	nameNext bool   // a name comes next

	kind      string // its member "type"
	mediaType string
	detail    string

	text   int // tokens of words
	other  int // tokens of other content
	sealed int // characters of encrypted content
	sizes  []pixels
	shows  bool // it contains the content that its type promises
}

func (w *walker) push(key string) { w.stack = append(w.stack, frame{key: key}) }

func (w *walker) token(t jsontext.Token) {
	f := &w.stack[len(w.stack)-1]
	switch t.Kind() {
	case '{', '[':
		key := f.key
		if f.object {
			key = f.name
			f.nameNext = true
		}
		w.push(key)
		f = &w.stack[len(w.stack)-1]
		f.object, f.nameNext = t.Kind() == '{', true
	case '}', ']':
		w.pop()
	case '"':
		s := t.String()
		switch {
		case f.object && f.nameNext:
			f.name, f.nameNext = s, false
		case f.object:
			f.nameNext = true
			w.value(f, f.name, s)
		default:
			w.value(f, f.key, s)
		}
	default: // a number, a boolean, null
		f.nameNext = true
		f.text++
	}
}

// value processes a string.
func (w *walker) value(f *frame, key, s string) {
	mediaType, data, isURL := splitDataURL(s)
	switch {
	case key == "type":
		f.kind = s
	case key == "detail":
		f.detail = s
	case strings.HasPrefix(key, "encrypted"), key == "signature", key == "thought_signature",
		key == "thoughtSignature":
		f.sealed += len(s)
	case isURL && (!words[key] || key == "url"):
		w.data(f, key, mediaType, data)
	case key == "media_type", key == "mime_type", key == "mimeType":
		f.mediaType = strings.ToLower(s)
	case housekeeping[key], strings.HasSuffix(key, "_id"):
	case !words[key] && len(s) >= shortest && isBase64(s) &&
		(len(s) >= longRun || sniff(decodeHead(s, 48)) != unknownKind):
		w.data(f, key, f.mediaType, s)
	default:
		f.text += 1 + w.words(s) // for the name or a separator
		f.shows = f.shows || s != "" && !titles[key]
	}
}

// data processes base64 data.
func (w *walker) data(f *frame, key, mediaType, data string) {
	k := kindOf(mediaType, data)
	if k == unknownKind && (strings.Contains(key, "audio") || strings.Contains(f.key, "audio")) {
		k = audioKind
	}
	f.shows = true
	switch {
	case k == imageKind:
		if p := sizeOf(data); p.w > 0 {
			f.sizes = append(f.sizes, p)
		} else {
			f.other += min(w.scaled(imageTokens(usual, w.rule, "")), decodedLen(data))
		}
	case k == audioKind:
		f.other += w.scaled(w.audioTokens(seconds(data), w.role))
	case k == sealedKind:
		f.sealed += len(data)
	case k != unknownKind, mediaType != "", key == "file_data":
		f.other += w.fileTokens(mediaType, data, w.role)
	default:
		f.other += min(sealedTokens(len(data)), mostSealed)
	}
}

// pop ends the innermost array or object.
func (w *walker) pop() {
	last := len(w.stack) - 1
	f := w.stack[last]
	w.stack = w.stack[:last]
	up := &w.stack[last-1]
	n, shows := f.tokens(*w)
	up.shows = up.shows || shows
	if f.sealed > 0 {
		up.other += n
		return
	}
	up.text += f.text
	up.other += n - f.text
}

// tokens sums up a frame, and reports whether it contains the content that its type promises.
// Encrypted content and words in one object are two forms of the same content: the larger counts.
func (f *frame) tokens(w walker) (n int, shows bool) {
	sealed := sealedTokens(f.sealed)
	if enveloped[f.kind] {
		sealed = reasoningTokens(f.sealed)
	}
	n, shows = f.other+max(f.text, sealed), f.shows || f.sealed > 0
	for _, p := range f.sizes {
		n += w.scaled(imageTokens(p, w.rule, f.detail))
	}
	if shows {
		return n, true
	}
	switch {
	case images[f.kind]:
		n += w.scaled(imageTokens(usual, w.rule, f.detail))
	case files[f.kind]:
		n += w.pdfTokens(unknownPages)
	case sounds[f.kind]:
		n += w.scaled(w.audioTokens(unknownAudio, w.role))
	default:
		return n, false
	}
	return n, true
}
