package sessions

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/archive/formats"
	"github.com/precis-dev/precis/archive/roo"
)

// Fault is a defect of a recording.
type Fault struct {
	Session  string `json:"session"`
	Path     string `json:"path"`
	Kind     string `json:"kind"` // see [FaultUnreadable]
	Place    string `json:"place,omitempty"`
	Text     string `json:"text"`
	Mendable bool   `json:"mendable"` // [Repair] can mend it
}

// Kinds of faults.
const (
	FaultUnreadable = "unreadable" // no conversation could be read
	FaultLine       = "line"       // a line that is not a JSON object; its reader skips it
	FaultEncoding   = "encoding"   // a byte order mark, another encoding than UTF-8, or invalid bytes
	FaultOrphan     = "orphan"     // a tag that names a missing summary or marker
	FaultUnanswered = "unanswered" // a tool use without a result, before the end
	FaultLoop       = "loop"       // repeated condensations with few messages in between
	FaultDuplicate  = "duplicate"  // another recording has the same ID
)

// Check searches the sessions that a filter selects for defects and calls found for each, session
// by session. The error is from the index, or [precis.CodeCanceled].
func (l *Library) Check(ctx context.Context, f Filter, found func(Fault)) error {
	some, err := l.List(ctx, f)
	if err != nil {
		return err
	}
	if err := l.checkUnread(ctx, f, some, found); err != nil {
		return err
	}
	first := map[string]string{}
	for i, s := range some {
		if ctx.Err() != nil {
			return precis.Errorf(precis.CodeCanceled, "check sessions", "%w", context.Cause(ctx))
		}
		if other, ok := first[s.ID]; ok {
			found(Fault{Session: s.ID, Path: s.Path, Kind: FaultDuplicate, Text: "the same ID as " + other})
		} else {
			first[s.ID] = s.Path
		}
		for _, fault := range CheckFile(s.Path) {
			fault.Session = s.ID
			found(fault)
		}
		if l.o.Progress != nil {
			l.o.Progress(i+1, len(some))
		}
	}
	return nil
}

// checkUnread calls found for each file that could not be read and so is no session. It does so
// only if the filter selects by program alone; other filters select sessions.
func (l *Library) checkUnread(ctx context.Context, f Filter, some []*Session, found func(Fault)) error {
	if f != (Filter{Agent: f.Agent, Sort: f.Sort}) {
		return nil
	}
	unread, err := l.Unread(ctx)
	if err != nil {
		return err
	}
	listed := map[string]bool{}
	for _, s := range some {
		listed[s.Path] = true
	}
	for _, u := range unread {
		if listed[u.Path] || f.Agent != "" && u.Agent != f.Agent {
			continue
		}
		fault := Fault{Path: u.Path, Kind: FaultUnreadable, Text: u.Text}
		if u.Why == ByFormat { // perhaps only the encoding is wrong
			for _, fault = range CheckFile(u.Path) {
				found(fault)
			}
			continue
		}
		found(fault)
	}
	return nil
}

// CheckFile searches one recording for defects.
func CheckFile(path string) []Fault {
	c := checker{path: path}
	src, err := formats.LoadAlone(path)
	if err != nil {
		c.add(FaultUnreadable, "", false, "%v", err)
		return c.faults
	}
	c.encoding(src.Data)
	rec, err := archive.Read(src, formats.All())
	if err != nil {
		_, wide := fromUTF16(src.Data)
		c.add(FaultUnreadable, "", wide, "%v", err)
		return c.faults
	}
	c.lines(rec, src)
	if roo.IsTask(src.Path) {
		c.tags(src.Data)
	}
	c.unanswered(rec.Conversation.Transcript)
	c.loops(rec.Conversation.Edits)
	return c.faults
}

// checker collects the faults of one recording.
type checker struct {
	path   string
	faults []Fault
}

func (c *checker) add(kind, place string, mendable bool, format string, args ...any) {
	c.faults = append(c.faults, Fault{Path: c.path, Kind: kind, Place: place, Mendable: mendable,
		Text: fmt.Sprintf(format, args...)})
}

var utf8Mark = []byte("\ufeff")

func (c *checker) encoding(data []byte) {
	if _, wide := fromUTF16(data); wide {
		c.add(FaultEncoding, "byte 0", true, "it is UTF-16")
		return
	}
	if bytes.HasPrefix(data, utf8Mark) {
		c.add(FaultEncoding, "byte 0", true, "it begins with a byte order mark")
	}
	if i := bytes.IndexByte(data, 0); i >= 0 {
		c.add(FaultEncoding, fmt.Sprintf("byte %d", i), true, "%d NUL bytes, as a crash leaves them",
			bytes.Count(data, []byte{0}))
	}
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			c.add(FaultEncoding, fmt.Sprintf("byte %d", i), true, "it is no UTF-8 there")
			return
		}
		i += n
	}
}

// lines reports malformed lines. Lines with a wrong escape or with several objects can be mended.
func (c *checker) lines(rec *archive.Recording, src archive.Source) {
	whole, _ := withoutNULs(src.Data)
	mended, _ := mendLines(whole)
	mendable := mended != nil || len(whole) < len(src.Data)
	for _, w := range rec.Warnings {
		if w.Malformed {
			c.add(FaultLine, w.Place, mendable, "%s", w.Text)
		}
	}
	if more := rec.Skipped - len(rec.Warnings); more > 0 {
		c.add(FaultLine, "", mendable, "%d more lines are malformed", more)
	}
}

func (c *checker) tags(data []byte) {
	h, err := roo.ParseHistory(data)
	if err != nil {
		return
	}
	before := slices.Clone(h.Bytes())
	h.Clean()
	if !bytes.Equal(before, h.Bytes()) {
		c.add(FaultOrphan, "", true, "messages are tagged as hidden by a summary or marker that is gone")
	}
}

// unanswered reports tool uses without results, except in the last message with tool uses: there
// the work may still be running.
func (c *checker) unanswered(said *precis.Transcript) {
	if !slices.ContainsFunc(said.Messages(), precis.Message.HasToolResult) {
		return // this program writes results as text
	}
	pairs := precis.PairsOf(said.Messages())
	for i, m := range said.Messages() {
		if i == said.Len()-1 {
			break
		}
		for b, block := range m.Content {
			use, ok := block.(precis.ToolUse)
			if _, answered := pairs.Result(precis.BlockHandle(i, b)); ok && !answered {
				c.add(FaultUnanswered, precis.BlockHandle(i, b).String(), false, "%s has no result", use.Name)
			}
		}
	}
}

const (
	loopRuns = 3 // this many condensations in a row are a loop …
	loopSaid = 4 // … if at most this many messages are between two of them
)

// loops reports repeated condensations with few messages in between.
func (c *checker) loops(edits []precis.Edit) {
	last, runs := -1, 0
	for _, e := range edits {
		if e.Kind != precis.KindCondensation {
			continue
		}
		if last >= 0 && e.Seen-last <= loopSaid {
			runs++
		} else {
			runs = 1
		}
		if last = e.Seen; runs == loopRuns {
			c.add(FaultLoop, fmt.Sprintf("message %d", e.Seen), false,
				"condensed %d times with at most %d messages in between", loopRuns, loopSaid)
		}
	}
}
