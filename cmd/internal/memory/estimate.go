package memory

import "bytes"

// What a recording needs, measured with the scale table of make scale: the program itself,
// each byte of the file, and each message and block, however short it is. The numbers are on
// the low side: what is refused by mistake cannot be read at all, and what is let in by
// mistake is watched.
const (
	program  = 48 << 20
	perByte  = 3
	perPiece = 800
)

// sample is how many bytes of a file the estimate is made from.
const sample = 1 << 20

// pieces begin a message or a block: in JSON the member that says what it is, in the history
// of aider a line of the user. In a text within JSON the quotes would be escaped.
var pieces = [][]byte{[]byte(`"role":`), []byte(`"type":`), []byte("\n#### ")}

// estimate returns the bytes of memory that a recording of the given size needs which begins
// with head.
func estimate(head []byte, size int64) int64 {
	n := 0
	for _, p := range pieces {
		n += bytes.Count(head, p)
	}
	scale := 1.0
	if len(head) > 0 {
		scale = float64(size) / float64(len(head))
	}
	return program + perByte*size + int64(perPiece*scale*float64(n))
}
