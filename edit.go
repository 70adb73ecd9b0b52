package precis

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// EditKind is the kind of an [Edit]'s effect.
type EditKind string

// The kinds of edits. All but the last five come from the ladder and replace
// content by less of it.
const (
	KindCondensation EditKind = "condensation" // a span becomes a summary
	KindTruncation   EditKind = "truncation"   // a marker replaces a span
	KindPruning      EditKind = "pruning"      // old tool results become previews
	KindDedupe       EditKind = "dedupe"       // repeated content becomes a pointer
	KindMedia        EditKind = "media"        // old images become a note
	KindClip         EditKind = "clip"         // blocks are cut inside
	KindThinking     EditKind = "thinking"     // reasoning bound to a replaced prefix is dropped
	KindRewind       EditKind = "rewind"       // the tail is hidden
	KindExclude      EditKind = "exclude"      // messages that the user does not want are hidden
	KindRestore      EditKind = "restore"      // hidden content is shown again
	KindPin          EditKind = "pin"          // content is marked as important: never hidden
	KindUndo         EditKind = "undo"         // an earlier edit is undone
)

// TriggeredBy is the origin of a run.
type TriggeredBy string

// The origins of a run.
const (
	TriggeredAutomatic  TriggeredBy = "automatic"
	TriggeredManual     TriggeredBy = "manual"
	TriggeredForced     TriggeredBy = "forced"     // by an overflow error
	TriggeredBackground TriggeredBy = "background" // before it was due
	TriggeredModel      TriggeredBy = "model"      // by the conversation's own model
	TriggeredRecorded   TriggeredBy = "recorded"   // found in a recorded conversation
)

// Edit is a recorded, reversible change to what the model sees. It is made at
// one point of a conversation and is in force from there on, until an edit of
// kind [KindUndo] names it. Edits are values; do not change one that is
// recorded.
type Edit struct {
	ID   string      `json:"id"`            // unique in the conversation; see [Edit.Identify]
	Run  string      `json:"run,omitempty"` // shared by the edits that one decision made; undone together
	Kind EditKind    `json:"kind"`
	At   Fingerprint `json:"at"`             // of the transcript it was made on
	Seen int         `json:"seen"`           // number of messages of that transcript
	Time time.Time   `json:"time,omitzero"`  // when it was made; zero when unknown
	Pins []Handle    `json:"pins,omitempty"` // KindPin: the pinned messages and blocks

	Replace []Replacement `json:"replace,omitempty"`
	Undoes  []string      `json:"undoes,omitempty"` // IDs of the undone edits (KindUndo, KindRewind)

	Report EditReport `json:"report,omitzero"`
}

// Replacement shows other content instead of whole messages [From,To), or, when Block is set,
// instead of one block of message From.
type Replacement struct {
	From int       `json:"from"`
	To   int       `json:"to"`
	With []Message `json:"with,omitempty"` // shown instead of the span; empty hides it

	Block     *BlockRef `json:"block,omitempty"`
	WithBlock Block     `json:"-"` // shown instead of the block; nil drops it

	Restore bool `json:"restore,omitempty"` // show the original again; With and WithBlock are ignored
}

// Name returns the edit's ID as [Unit.Edit] has it: a word for an edit without ID, since there "" means an
// original message.
func (e Edit) Name() string { return cmp.Or(e.ID, "unnamed") }

// OwnIndex returns the index in With of the message that was written to replace the span: a summary, a
// digest, a marker. The others are unchanged messages in force and notes on them. It is
// -1 when With has only these.
func (r Replacement) OwnIndex() int {
	return slices.IndexFunc(r.With, func(m Message) bool {
		return len(m.Raw) == 0 && m.Format == "" && m.Role != RoleSystem && !IsNote(m.PlainText())
	})
}

// BlockRef names one block of a message by its index and its canonical hash.
// Where a message's blocks have moved (a client may drop empty ones), the hash
// decides.
type BlockRef struct {
	Index int         `json:"index"`
	Hash  Fingerprint `json:"hash"`
}

// ReplaceBlock returns the replacement of block b of message i of t by with; a nil with drops the
// block.
func ReplaceBlock(t *Transcript, i, b int, with Block) Replacement {
	hash := t.HashBlock(i, b)
	return Replacement{From: i, To: i + 1, Block: &BlockRef{Index: b, Hash: hash}, WithBlock: with}
}

// Identify sets At and Seen to the end of t and, when the ID is empty, an ID
// made from the content: the same decision at the same point has the same ID on
// every replica and retry. The ID has the form of a version 8 UUID (RFC 9562).
func (e *Edit) Identify(t *Transcript) error {
	e.Seen = t.Len()
	e.At = t.Fingerprint(e.Seen)
	if e.ID != "" {
		return nil
	}
	named := *e
	named.Time, named.Report, named.Run = time.Time{}, EditReport{}, ""
	raw, err := json.Marshal(named)
	if err != nil {
		return Errorf(CodeInternal, "identify edit", "%w", err)
	}
	e.ID = uuid(sha256.Sum256(raw))
	return nil
}

func uuid(sum [sha256.Size]byte) string {
	b := sum[:16]
	b[6] = b[6]&0x0f | 0x80
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// Active returns the edits in force, in order: without undo edits and the edits that they undo. An
// undo can itself be undone, which brings the edit back.
func Active(edits []Edit) []Edit {
	gone := Undone(edits)
	active := make([]Edit, 0, len(edits))
	for _, e := range edits {
		if _, undone := gone[e.ID]; e.Kind != KindUndo && !undone {
			active = append(active, e)
		}
	}
	return active
}

// Pinned returns the handles pinned by the edits in force.
func Pinned(edits []Edit) []Handle {
	var pins []Handle
	for _, e := range Active(edits) {
		if e.Kind == KindPin {
			pins = append(pins, e.Pins...)
		}
	}
	return pins
}

// MarshalJSON writes the replacement with its block in stored form.
func (r Replacement) MarshalJSON() ([]byte, error) {
	type plain Replacement
	v := struct {
		plain
		WithBlock *blockJSON `json:"with_block,omitempty"`
	}{plain: plain(r)}
	if r.WithBlock != nil {
		b := toBlock(r.WithBlock)
		v.WithBlock = &b
	}
	return json.Marshal(v)
}

// UnmarshalJSON reads what MarshalJSON wrote. The error is [CodeInvalid].
func (r *Replacement) UnmarshalJSON(data []byte) error {
	type plain Replacement
	var v struct {
		plain
		WithBlock *blockJSON `json:"with_block"`
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return Errorf(CodeInvalid, "read replacement", "%w", err)
	}
	*r = Replacement(v.plain)
	if v.WithBlock == nil {
		return nil
	}
	b, err := fromBlock(*v.WithBlock)
	r.WithBlock = b
	return err
}

// Reduces reports whether the edit hides or shortens content, or belongs to a run that does.
func (e Edit) Reduces() bool {
	switch e.Kind {
	case KindRestore, KindUndo:
		return e.Report.Rung != "" // content that was shown again is reduced by the next edit of the run
	case KindPin, KindRewind, KindExclude:
		return false
	}
	return true
}

// LastRun returns the IDs of the newest run in force that can be undone.
func LastRun(edits []Edit) []string {
	active := Active(edits)
	if len(active) == 0 {
		return nil
	}
	last := active[len(active)-1]
	if last.Run == "" {
		return []string{last.ID}
	}
	gone := Undone(edits)
	var ids []string
	for _, e := range edits { // including the edits that undo others
		if _, undone := gone[e.ID]; !undone && e.Run == last.Run {
			ids = append(ids, e.ID)
		}
	}
	return ids
}

// Beginnings of notes that a [Replacement] shows beside its own text.
const (
	// the note lists items in force that do not fit
	HeadLeftOut = "[Also in force, said by the program, and too long to stand here"
	// the note states plans, skills and jobs that are hidden
	HeadHeld = "[Still holds, from what is hidden here"
)

// IsNote reports whether a text is a note on what is in force, see [Replacement.OwnIndex].
func IsNote(text string) bool {
	return strings.HasPrefix(text, HeadLeftOut) || strings.HasPrefix(text, HeadHeld)
}
