// Package outlineworker parses source code in a process of its own, for parsers
// that hostile text can make slow, greedy or crash: those of package treesitter.
// [New] returns a [Worker], an [outline.Parser] that asks the process; the process
// calls [Limit] and [Serve]. When it fails, in whatever way, the file is read by
// lines.
//
// Requests and answers are frames on the standard input and output of the
// process: four bytes of length, most significant first, and the given number of bytes of
// JSON. The process says [hello] first. It gets no environment and so no keys,
// and what it answers is checked.
package outlineworker

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"

	"precis/outline"
)

// hello is the first frame of the process, so that no other program is taken for
// one.
const hello = "precis outline worker 1"

// The largest frames: a file in JSON, each byte escaped, and its definitions.
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
	Last        bool                 `json:"last,omitempty"` // the process ends: it used much memory or time
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

// Serve parses what is asked for on in, and answers on out, until in ends or the
// process is worn. It is the whole work of the process.
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
