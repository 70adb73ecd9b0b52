// Package export writes a whole conversation for people and for other programs: as Markdown,
// JSON, XML, CSV, or one self-contained HTML page. Start with [Write]. All messages are written;
// hidden ones are marked as hidden.
package export

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/block"
)

// Formats returns the format names that [Write] accepts.
func Formats() []string { return []string{"markdown", "json", "xml", "csv", "html"} }

// extensions maps file name extensions to formats.
var extensions = map[string]string{".md": "markdown", ".markdown": "markdown", ".json": "json", ".xml": "xml",
	".csv": "csv", ".html": "html", ".htm": "html"}

// FormatOf returns the format for a file's extension; "" if unknown.
func FormatOf(path string) string {
	i := strings.LastIndexByte(path, '.')
	if i < 0 {
		return ""
	}
	return extensions[strings.ToLower(path[i:])]
}

// Write writes a conversation in a format. The error is [precis.CodeInvalid] for an
// unknown format; an error of w has [precis.CodeInternal].
func Write(w io.Writer, c conversation.Exported, format string) error {
	writers := map[string]func(io.Writer, conversation.Exported) error{
		"markdown": writeMarkdown, "md": writeMarkdown, "json": writeJSON, "xml": writeXML, "csv": writeCSV,
		"html": writeHTML,
	}
	write, ok := writers[format]
	if !ok {
		return precis.Errorf(precis.CodeInvalid, "export", "there is no format %q; want one of %s", format,
			strings.Join(Formats(), ", "))
	}
	b := bufio.NewWriter(w)
	err := write(b, c)
	if err == nil {
		err = b.Flush()
	}
	if err != nil {
		return precis.Errorf(precis.CodeInternal, "export", "%w", err)
	}
	return nil
}

func writeJSON(w io.Writer, c conversation.Exported) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(c)
}

// writeCSV writes one row for each block.
func writeCSV(w io.Writer, c conversation.Exported) error {
	out := csv.NewWriter(w)
	rows := [][]string{{"handle", "time", "role", "state", "tokens", "type", "name", "error", "text"}}
	for _, m := range c.Messages {
		for i, b := range m.Content {
			tokens := ""
			if i == 0 {
				tokens = strconv.Itoa(m.Tokens)
			}
			rows = append(rows, []string{b.Handle, when(m.Time), string(m.Role), string(stateOf(m, i)),
				tokens, b.Type, b.Name, yes(b.IsError), text(b)})
		}
	}
	for _, r := range rows {
		for i := range r {
			r[i] = csvSafe(r[i])
		}
		if err := out.Write(r); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// csvSafe prevents a spreadsheet from interpreting a cell as a formula.
func csvSafe(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return ""
}

func when(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// stateOf returns how the view shows block i of a message.
func stateOf(m conversation.ExportedMessage, i int) conversation.State {
	if m.State == conversation.Shortened && i < len(m.Blocks) && m.Blocks[i].Edit == "" {
		return conversation.Shown
	}
	return m.State
}

// text returns the text of a block, the input of a tool use, or the text of a result.
func text(b block.Content) string {
	switch {
	case b.Text != "":
		return b.Text
	case len(b.Input) > 0:
		return string(b.Input)
	case len(b.Content) > 0:
		var parts []string
		for _, inner := range b.Content {
			parts = append(parts, text(inner))
		}
		return strings.Join(parts, "\n")
	case b.URL != "":
		return b.URL
	case b.Bytes > 0 && b.Type != "text":
		return fmt.Sprintf("[%s %s, %d bytes]", b.Type, b.MediaType, b.Bytes)
	}
	return ""
}

// document is the XML form of a conversation.
type document struct {
	XMLName  xml.Name   `xml:"conversation"`
	ID       string     `xml:"id,attr"`
	Title    string     `xml:"title,attr,omitempty"`
	Model    string     `xml:"model,attr,omitempty"`
	Agent    string     `xml:"agent,attr,omitempty"`
	Messages []xmlEntry `xml:"message"`
	Edits    []xmlEdit  `xml:"edit"`
}

type xmlEntry struct {
	Handle string     `xml:"handle,attr"`
	Role   string     `xml:"role,attr"`
	Time   string     `xml:"time,attr,omitempty"`
	State  string     `xml:"state,attr"`
	Tokens int        `xml:"tokens,attr"`
	Blocks []xmlBlock `xml:"block"`
}

type xmlBlock struct {
	Handle string `xml:"handle,attr"`
	Type   string `xml:"type,attr"`
	Name   string `xml:"name,attr,omitempty"`
	ID     string `xml:"id,attr,omitempty"`
	Error  bool   `xml:"error,attr,omitempty"`
	Text   string `xml:",chardata"`
}

type xmlEdit struct {
	ID      string `xml:"id,attr"`
	Kind    string `xml:"kind,attr"`
	Seen    int    `xml:"seen,attr"`
	InForce bool   `xml:"in_force,attr"`
	Before  int    `xml:"tokens_before,attr,omitempty"`
	After   int    `xml:"tokens_after,attr,omitempty"`
	Text    string `xml:",chardata"`
}

func writeXML(w io.Writer, c conversation.Exported) error {
	d := document{ID: xmlSafe(c.Conversation.ID), Title: xmlSafe(c.Conversation.Title),
		Model: c.Conversation.Model, Agent: c.Conversation.Client}
	for _, m := range c.Messages {
		one := xmlEntry{Handle: m.Handle.String(), Role: string(m.Role), Time: when(m.Time),
			State: string(m.State), Tokens: m.Tokens}
		for _, b := range m.Content {
			one.Blocks = append(one.Blocks, xmlBlock{Handle: b.Handle, Type: b.Type, Name: xmlSafe(b.Name),
				ID: xmlSafe(b.ID), Error: b.IsError, Text: xmlSafe(text(b))})
		}
		d.Messages = append(d.Messages, one)
	}
	for _, e := range c.Edits {
		d.Edits = append(d.Edits, xmlEdit{ID: e.ID, Kind: string(e.Kind), Seen: e.Seen, InForce: e.InForce,
			Before: e.Report.TokensBefore, After: e.Report.TokensAfter, Text: xmlSafe(shownBy(e))})
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", " ")
	if err := e.Encode(d); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// xmlSafe replaces characters that are invalid in XML.
func xmlSafe(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && !slices.Contains([]rune{'\t', '\n', '\r'}, r) || r == 0xfffe || r == 0xffff {
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
}

// shownBy returns the text that an edit shows instead of messages.
func shownBy(e conversation.EditInfo) string {
	var parts []string
	for _, ch := range e.Changes {
		for _, m := range ch.Messages {
			for _, b := range m.Blocks {
				parts = append(parts, text(b))
			}
		}
	}
	return strings.Join(parts, "\n\n")
}
