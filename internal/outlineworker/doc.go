// Package outlineworker parses source code in a separate process, for the parsers of package
// treesitter, which hostile text can make slow, use much memory or crash. [New] returns a [Worker],
// an [outline.Parser] that asks the process; the process calls [Limit] and [Serve]. On any failure,
// the file is read by lines.
//
// Requests and answers are frames on the standard input and output of the process: a length of four
// bytes, most significant first, and that many bytes of JSON. The process first sends [hello]. It
// gets no environment and so no keys, and its answers are checked.
package outlineworker

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"

	"github.com/precis-dev/precis/outline"
)

// hello is the first frame of the process, to identify the program.
const hello = "precis outline worker 1"

// The largest frames: a file in JSON with each byte escaped, and its definitions.
const (
	mostRequest = 6*outline.MaxParsed + 1<<10
	mostAnswer  = 8 << 20
)

type request struct {
	Language string `json:"language"`
	Content  string `json:"content"`
}

type answer struct {
	Definitions []outline.Definition `json:"definitions,omitempty"`
	Doubts      []outline.Doubt      `json:"doubts,omitempty"`
	OK          bool                 `json:"ok"`
	// the process ends, because it used much memory or time
	Last bool `json:"last,omitempty"`
}

var errFrame = errors.New("a frame is too large")

func writeFrame(w io.Writer, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	frame := binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(data)), uint32(len(data)))
	_, err = w.Write(append(frame, data...))
	return err
}

func readFrame(r io.Reader, most int, v any) error {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	size := binary.BigEndian.Uint32(head[:])
	if int64(size) > int64(most) {
		return errFrame
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(r, data); err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}

// Serve parses the requests on in and answers on out, until in ends or the process has used too
// much memory or time. It is all the work of the process.
func Serve(in io.Reader, out io.Writer, p outline.Parser) error {
	if err := writeFrame(out, hello); err != nil {
		return err
	}
	for {
		var q request
		if err := readFrame(in, mostRequest, &q); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		var a answer
		a.Definitions, a.Doubts, a.OK = p.Parse(q.Language, q.Content)
		a.Last = worn()
		if err := writeFrame(out, a); err != nil || a.Last {
			return err
		}
	}
}
