// Package form encodes and decodes the data that the SQL stores write: the JSON of messages, edits,
// records and ledger entries. Each store defines its own tables and locks.
package form

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/words"
)

// Message is a message to append, with its node.
type Message struct {
	Node precis.Fingerprint
	Hash precis.Fingerprint // [precis.HashMessage]
	Key  [sha256.Size]byte  // of Data
	Data []byte
}

// Chain returns the nodes of messages appended after parent, starting with parent.
func Chain(parent precis.Fingerprint, msgs []precis.Message) []precis.Fingerprint {
	chain := make([]precis.Fingerprint, 1, len(msgs)+1)
	chain[0] = parent
	for i, m := range msgs {
		chain = append(chain, chain[i].Next(m))
	}
	return chain
}

// Messages returns the stored forms of the messages from index known on. The chain holds their
// nodes, starting with the parent. The error is [precis.CodeInvalid] for a message without a stored
// form.
func Messages(op string, msgs []precis.Message, chain []precis.Fingerprint, known int) ([]Message, error) {
	out := make([]Message, 0, len(msgs)-known)
	for i, m := range msgs[known:] {
		f, err := newMessage(m)
		if err != nil {
			return nil, precis.Errorf(precis.CodeInvalid, op, "message %d: %w", known+i, err)
		}
		f.Node = chain[known+i+1]
		out = append(out, f)
	}
	return out, nil
}

// newMessage reads the stored form back, because a message that reads back differently would be
// lost under its node.
func newMessage(m precis.Message) (Message, error) {
	data, err := json.Marshal(m)
	if err != nil {
		return Message{}, err
	}
	var back precis.Message
	if err := decode(data, &back); err != nil {
		return Message{}, err
	}
	f := Message{Hash: precis.HashMessage(m), Key: sha256.Sum256(data), Data: data}
	if precis.HashMessage(back) != f.Hash {
		return Message{}, errors.New("its stored form differs: is there text that is not UTF-8?")
	}
	return f, nil
}

// Text returns the searchable text of a stored message, see [words.Text]; "" for an unreadable
// message.
func Text(data []byte) string {
	var m precis.Message
	if decode(data, &m) != nil {
		return ""
	}
	return words.Text(m)
}

// Read decodes a stored form. The result does not alias data.
func Read[T any](data []byte) (T, error) {
	var v T
	if err := decode(data, &v); err != nil {
		return v, fmt.Errorf("a stored %T is damaged: %v", v, err)
	}
	return v, nil
}

// decode decodes JSON. It calls a type's own decoder directly, because package json would scan
// every byte of a message twice more.
func decode(data []byte, v any) error {
	if u, ok := v.(json.Unmarshaler); ok {
		return u.UnmarshalJSON(data)
	}
	return json.Unmarshal(data, v)
}
