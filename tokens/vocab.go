package tokens

import (
	"encoding/binary"

	"github.com/precis-dev/precis/internal/packed"
)

// vocabulary holds the tokens of one encoding. A token's ID is its rank, which is the order of
// merges.
type vocabulary struct {
	trie   trie
	text   []byte      // the bytes of all tokens
	offset []uint32    // ID → start in text
	length []uint8     // ID → bytes
	prefix []uint32    // ID → the longest token that is a proper prefix, or none
	halves [][2]uint32 // ID → the two tokens that merge into it; itself for single bytes
	pairs  []uint32    // first byte<<8 | second byte → ID of the token, or none
	merges mergeTable  // two tokens → the token they merge into
}

const (
	idBits      = 18
	maxToken    = 255       // longest token in bytes that the file format can hold
	singleBytes = 256       // tokens with a lower ID are single bytes, all others are longer
	none        = 1<<32 - 1 // in place of an ID or a node
)

func (v *vocabulary) size() int { return len(v.length) }

func (v *vocabulary) bytes(id uint32) []byte {
	start := v.offset[id]
	return v.text[start : start+uint32(v.length[id])]
}

// loadVocabulary unpacks a data file in the format that internal/vocabgen describes. It panics if
// the embedded file is damaged.
func loadVocabulary(data []byte) *vocabulary {
	raw, err := packed.Text(data)
	if err != nil {
		panic("tokens: embedded vocabulary: " + err.Error())
	}
	n := int(binary.LittleEndian.Uint32(raw))
	raw = raw[4:]
	column := func(size int) []byte {
		c := raw[:size]
		raw = raw[size:]
		return c
	}
	p := columns{
		shared: column(n), rest: column(n), halves: column(n),
		rankLow: column(2 * n), rankHigh: column(n), text: raw,
	}
	return p.unpack(n)
}

// columns are the content of a data file: one entry per token, in byte order.
type columns struct {
	shared   []byte // bytes in common with the token before
	rest     []byte // bytes that follow these
	halves   []byte // length of the left of the two halves; 0 for single bytes
	rankLow  []byte // two bytes each, little endian
	rankHigh []byte // the bits above these
	text     []byte // the rests
}

func (p *columns) unpack(n int) *vocabulary {
	v := &vocabulary{
		trie:   newTrie(len(p.text)),
		text:   make([]byte, 0, 8*n),
		offset: make([]uint32, n),
		length: make([]uint8, n),
		prefix: make([]uint32, n),
		halves: make([][2]uint32, n),
		pairs:  make([]uint32, 1<<16),
		merges: newMergeTable(n),
	}
	// path holds the nodes along the current token, by length, and the longest token up to each;
	// free is the next node number.
	var path [maxToken + 1]struct{ node, token uint32 }
	free := p.firstNodes()
	path[0].token = none
	start, text := 0, p.text
	for i := range n {
		id := uint32(binary.LittleEndian.Uint16(p.rankLow[2*i:])) | uint32(p.rankHigh[i])<<16
		shared, rest := int(p.shared[i]), int(p.rest[i])
		previous := start
		start = len(v.text)
		v.text = append(v.text, v.text[previous:previous+shared]...)
		v.text = append(v.text, text[:rest]...)
		v.offset[id], v.length[id] = uint32(start), uint8(shared+rest)
		v.prefix[id] = path[shared].token
		for k, b := range text[:rest] {
			depth := shared + k
			node := free[depth]
			free[depth]++
			v.trie.add(path[depth].node, node, depth, b)
			path[depth+1].node, path[depth+1].token = node, path[depth].token
		}
		v.trie.nodes[path[shared+rest].node].token = id
		path[shared+rest].token = id
		if half := p.halves[i]; half > 0 {
			v.halves[id][0] = path[half].token
		}
		text = text[rest:]
	}
	v.joinHalves()
	v.fillPairs()
	return v
}

// firstNodes returns the number of the first trie node of each length,
// counted from 0 for one byte.
func (p *columns) firstNodes() (first [maxToken + 1]uint32) {
	for i, shared := range p.shared {
		for depth := range int(p.rest[i]) {
			first[int(shared)+depth+1]++
		}
	}
	for depth := 1; depth < len(first); depth++ {
		first[depth] += first[depth-1]
	}
	return first
}

// joinHalves finds the right half of every token from its left half, and records the merge.
func (v *vocabulary) joinHalves() {
	for id := range v.halves {
		if id < singleBytes {
			v.halves[id] = [2]uint32{uint32(id), uint32(id)}
			continue
		}
		left := v.halves[id][0]
		right := v.trie.find(v.bytes(uint32(id))[v.length[left]:])
		v.halves[id][1] = right
		v.merges.put(left, right, uint32(id))
	}
}

// fillPairs fills pairs: for each two bytes the token that consists of them, or none.
func (v *vocabulary) fillPairs() {
	for i, node := range v.trie.pairs {
		v.pairs[i] = none
		if node != none {
			v.pairs[i] = v.trie.nodes[node].token
		}
	}
}
