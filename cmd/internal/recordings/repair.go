package recordings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/cmd/internal/command"
	"github.com/precis-dev/precis/internal/atomicfile"
	"github.com/precis-dev/precis/sessions"
	"github.com/precis-dev/precis/store/transfer"
)

// repair recovers the intact parts of a damaged file of precis.
type repair struct {
	*command.Tools
	out string
}

// NewRepair makes the command repair.
func NewRepair(t *command.Tools) *cobra.Command {
	c := &repair{Tools: t}
	cmd := &cobra.Command{
		Use:   "repair FILE",
		Short: "Give back what is whole of a damaged file of precis",
		Long: `Give back what is whole of a damaged .precis file, or of a damaged export of a
store (precis store export), also of a compressed one (gzip, zstd) that was cut
off: every message that can be read and says what it said, and the edits that
still fit. What was kept and what was lost is printed, by conversation and
message. The result is a new file; the damaged one stays as it is.

Recordings of agents are mended by precis sessions repair.`,
		Example: `  precis repair run.precis
  precis repair --out whole.jsonl backup.jsonl.gz`,
		Args: command.Takes("FILE"),
		RunE: c.run,
	}
	cmd.Flags().StringVarP(&c.out, "out", "o", "",
		"write `FILE`; default: NAME.repaired.EXT next to the damaged one")
	return cmd
}

// repaired is the output of the command.
type repaired struct {
	Path   string             `json:"path"`
	Output string             `json:"output,omitempty"` // "": the file is whole and no file was written
	File   *sessions.Salvaged `json:"file,omitempty"`
	Store  *transfer.Mended   `json:"store,omitempty"`
}

func (c *repair) run(_ *cobra.Command, args []string) error {
	path := args[0]
	fail := func(code precis.Code, err error, hint string) error {
		return &precis.Error{Code: code, Op: "repair", Place: path, Err: err, Hint: hint}
	}
	if path == "-" {
		return fail(precis.CodeInvalid, errors.New("standard input cannot be mended"), "name a file")
	}
	plain, broken, err := archive.ReadDamaged(path)
	if err != nil {
		return err
	}
	done := repaired{Path: path}
	var fixed []byte
	switch {
	case transfer.IsExport(plain):
		var out bytes.Buffer
		m, err := transfer.Repair(&brokenReader{bytes.NewReader(plain), broken}, &out, time.Now())
		if err != nil {
			return fail(precis.CodeOf(err), err, "")
		}
		done.Store, fixed = &m, out.Bytes()
		if len(m.Lost) == 0 {
			fixed = nil
		}
	case archive.IsContainer(plain) || strings.HasSuffix(path, ".precis"):
		s, err := sessions.Salvage(path, plain)
		if err != nil {
			return err
		}
		if broken != nil {
			s.Lost = append(s.Lost, fmt.Sprintf("the end of the compressed file: %v", broken))
		}
		done.File, fixed = s, s.Data
		if len(s.Lost) == 0 {
			fixed = nil
		}
	default:
		return fail(precis.CodeInvalid, errors.New("it is neither a .precis file nor an export of a store"),
			"precis sessions repair mends recordings of agents")
	}
	if fixed != nil {
		if done.Output, err = c.write(path, fixed); err != nil {
			return err
		}
	}
	if c.AsJSON {
		return c.JSON(done)
	}
	c.printOutcome(done)
	return nil
}

// write writes the repaired file. It never overwrites a file.
func (c *repair) write(path string, data []byte) (string, error) {
	out := c.out
	if out == "" {
		name := strings.TrimSuffix(strings.TrimSuffix(path, ".gz"), ".zst")
		ext := filepath.Ext(name)
		out = strings.TrimSuffix(name, ext) + ".repaired" + ext
	}
	if _, err := os.Lstat(out); err == nil {
		return "", &precis.Error{Code: precis.CodeConflict, Op: "repair", Place: out,
			Err: errors.New("the file is there already"), Hint: "name another one with --out"}
	}
	if err := atomicfile.WriteAs(out, data, path); err != nil {
		return "", precis.Errorf(precis.CodeInternal, "repair", "%w", err)
	}
	return out, nil
}

// printOutcome prints the content kept and the content lost.
func (c *repair) printOutcome(done repaired) {
	w := c.Text
	if done.Output == "" {
		c.Line("%s is whole: nothing was written", done.Path)
		return
	}
	w.Title("%s", done.Output)
	if s := done.File; s != nil {
		c.Pairs([2]string{"kept", c.Words.Text("%d messages and %d edits of %s (%s)", s.Messages, s.Edits,
			s.Name, s.Format)})
		for _, l := range s.Lost {
			c.Pairs([2]string{"lost", c.Words.Sentence(l)})
		}
	}
	if m := done.Store; m != nil {
		k := m.Kept
		c.Pairs([2]string{"kept", c.Words.Text("%d conversations, %d messages, %d edits, %d lines of ledgers, %d calibrations", k.Conversations, k.Messages, k.Edits, k.Entries, k.Calibrations)})
		for _, conv := range m.Conversations {
			if conv.Lost == 0 && !conv.Recovered {
				continue
			}
			text := c.Words.Text("%d messages kept, %d lost", conv.Messages, conv.Lost)
			if conv.Recovered {
				text += c.Words.Text("; what it was called is lost")
			}
			w.Pairs([2]string{conv.ID, text}) // not translated: an ID
		}
		for _, l := range m.Lost {
			c.Pairs([2]string{"lost", c.Words.Text("line %d: %s", l.Line, c.Words.Sentence(l.What))})
		}
	}
}

// brokenReader ends with an error if its source was damaged.
type brokenReader struct {
	*bytes.Reader
	broken error
}

func (r *brokenReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err == io.EOF && r.broken != nil {
		err = r.broken
	}
	return n, err
}
