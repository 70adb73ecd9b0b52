package memory

import "bytes"

// Memory needed for a recording, measured with the scale table of make scale: for the program,
// for each byte of the file, and for each message and block of any size. The values are low
// estimates: a recording refused by mistake cannot be read at all, while one accepted by mistake
// is still watched.
const (
	program  = 48 << 20
	perByte  = 3
	perPiece = 800
)

// sample is the number of bytes of a file that the estimate is based on.
const sample = 1 << 20

// pieces mark the beginning of a message or block: in JSON a member, in the history of aider a
// line of the user. Quotes within a JSON string are escaped and do not match.
var pieces = [][]byte{[]byte(`"role":`), []byte(`"type":`), []byte("\n#### ")}

// estimate returns the memory in bytes for a recording of the given size that begins with head.
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
