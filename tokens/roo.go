package tokens

import (
	"bytes"
	"math"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// rooFactor is the factor that Roo Code applies to every count.
const rooFactor = 1.5

// Roo is Roo Code's estimate: o200k_base tokens of its own serialization of blocks, times 1.5,
// rounded up per message. Thinking, documents and unknown blocks count 0. The rules follow Roo Code
// 3.52.1.
type Roo struct{}

// Name returns "roo".
func (Roo) Name() string { return NameRoo }

// Count returns the estimate for one message.
func (Roo) Count(m precis.Message) int { return Roo{}.Blocks(m.Content) }

// Blocks returns the estimate for a list of blocks counted together.
func (Roo) Blocks(blocks []precis.Block) int {
	n := 0
	for _, b := range blocks {
		n += rooBlock(b)
	}
	return int(math.Ceil(float64(n) * rooFactor))
}

func rooBlock(b precis.Block) int {
	switch b := b.(type) {
	case precis.Text:
		return O200k().Count(b.Text)
	case precis.Image:
		return rooImage(b)
	case precis.ToolUse:
		name := b.Name
		if name == "" {
			name = "undefined" // as JavaScript writes it
		}
		text := "Tool: " + name
		if len(b.Input) > 0 {
			text += "\nArguments: " + stringify(b.Input)
		}
		return O200k().Count(text)
	case precis.ToolResult:
		return O200k().Count(rooResult(b))
	}
	return 0
}

// rooImage is the square root of the base64 length, 300 without data.
func rooImage(b precis.Image) int {
	if b.Data == "" && !bytes.Contains(b.Raw, []byte(`"data"`)) {
		return 300
	}
	return int(math.Ceil(math.Sqrt(float64(len(b.Data)))))
}

func rooResult(b precis.ToolResult) string {
	lines := []string{"Tool Result (" + b.ToolUseID + ")"}
	if b.IsError {
		lines = append(lines, "[Error]")
	}
	for _, c := range b.Content {
		switch c := c.(type) {
		case precis.Text:
			lines = append(lines, c.Text)
		case precis.Image:
			lines = append(lines, "[Image content]")
		default:
			lines = append(lines, "[Unsupported content block: "+typeName(c)+"]")
		}
	}
	return strings.Join(lines, "\n")
}

func typeName(b precis.Block) string {
	switch b := b.(type) {
	case precis.Document:
		return "document"
	case precis.Thinking:
		return "thinking"
	case precis.Opaque:
		return b.Type
	}
	return "unknown"
}

// stringify writes JSON as JavaScript's JSON.stringify does: no white space,
// characters unescaped, numbers in shortest form.
func stringify(raw []byte) string {
	v := jsontext.Value(append([]byte(nil), raw...))
	err := v.Format(
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true),
		jsontext.CanonicalizeRawInts(true), jsontext.CanonicalizeRawFloats(true),
		jsontext.PreserveRawStrings(false),
	)
	if err != nil || !jsonspan.Clean(v) {
		return string(raw)
	}
	return string(v)
}
