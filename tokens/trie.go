package tokens

import (
	"encoding/binary"
	"math/bits"
)

// trie finds tokens by their bytes. Its nodes are the prefixes of all tokens, numbered by length
// and then in byte order, so that the children of a node have consecutive numbers and frequently
// used nodes are close together in memory.
type trie struct {
	roots  [256]uint32 // byte → node
	pairs  []uint32    // first byte<<8 | second byte → node, or none
	nodes  []trieNode
	labels []byte // node → its last byte; eight zeros follow
}

type trieNode struct {
	children uint32 // first child<<childBits | number of children
	token    uint32 // ID, or none
}

const childBits = 9

// child returns the node that continues node with b, or none.
func (t *trie) child(node uint32, b byte) uint32 {
	children := t.nodes[node].children
	first, n := children>>childBits, children&(1<<childBits-1)
	if n > 8 {
		// Most nodes with many children have all of a range of labels.
		guess := uint32(b - t.labels[first])
		if guess < n && t.labels[first+guess] == b {
			return first + guess
		}
	}
	wanted := uint64(b) * 0x0101010101010101
	for at := uint32(0); at < n; at += 8 {
		diff := binary.LittleEndian.Uint64(t.labels[first+at:]) ^ wanted
		// The lowest set bit marks the first byte that is zero.
		zero := (diff - 0x0101010101010101) &^ diff & 0x8080808080808080
		if zero != 0 {
			if at += uint32(bits.TrailingZeros64(zero)) / 8; at < n {
				return first + at
			}
			break
		}
	}
	return none
}

// add makes node a child of parent, or a root if depth is 0. The children of
// a parent must be added in order.
func (t *trie) add(parent, node uint32, depth int, label byte) {
	t.labels[node], t.nodes[node].token = label, none
	if depth == 1 {
		t.pairs[int(t.labels[parent])<<8|int(label)] = node
	}
	switch {
	case depth == 0:
		t.roots[label] = node
	case t.nodes[parent].children == 0:
		t.nodes[parent].children = node<<childBits | 1
	default:
		t.nodes[parent].children++
	}
}

// longest returns the longest token that begins text, which is not empty.
func (t *trie) longest(text string) uint32 {
	root := t.roots[text[0]]
	token := t.nodes[root].token
	if len(text) == 1 {
		return token
	}
	node := t.pairs[int(text[0])<<8|int(text[1])]
	for i := 2; node != none; i++ {
		if id := t.nodes[node].token; id != none {
			token = id
		}
		if i == len(text) {
			break
		}
		node = t.child(node, text[i])
	}
	return token
}

// find returns the token with exactly the bytes of text, or none.
func (t *trie) find(text []byte) uint32 {
	if len(text) == 1 {
		return t.nodes[t.roots[text[0]]].token
	}
	node := t.pairs[int(text[0])<<8|int(text[1])]
	for _, b := range text[2:] {
		if node = t.child(node, b); node == none {
			return none
		}
	}
	return t.nodes[node].token
}

// newTrie makes a trie without nodes and room for the given number.
func newTrie(nodes int) trie {
	t := trie{
		pairs:  make([]uint32, 1<<16),
		nodes:  make([]trieNode, nodes),
		labels: make([]byte, nodes+8),
	}
	for i := range t.pairs {
		t.pairs[i] = none
	}
	return t
}
