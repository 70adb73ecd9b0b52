package term

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"unicode/utf8"

	"charm.land/lipgloss/v2"
	xterm "golang.org/x/term"

	"github.com/precis-dev/precis/internal/visible"
)

// Options describe a stream. The zero value is a file or a pipe.
type Options struct {
	Terminal bool
	Color    bool // it is a terminal, and the user wants color
	Columns  int  // 0: 100
}

// Detect returns the options of w. NO_COLOR or TERM=dumb in the environment turns color off.
func Detect(w io.Writer, env func(string) string) Options {
	const least = 40
	f, ok := w.(*os.File)
	if !ok {
		return Options{}
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return Options{}
	}
	o := Options{Terminal: true, Color: env("NO_COLOR") == "" && env("TERM") != "dumb"}
	if n, _, err := xterm.GetSize(int(f.Fd())); err == nil && n > 0 {
		o.Columns = max(n, least)
	}
	return o
}

// csi begins the control sequences of a terminal.
const csi = "\x1b["

// Writer writes text for people to one stream. On a terminal it escapes characters that the
// terminal would interpret or hide, see [Visible]; only the colors of [Writer.Style] are passed.
// Elsewhere it passes every byte. It is safe for concurrent use.
type Writer struct {
	color   bool
	width   int
	filters bool // it is a terminal
	// mark begins the color codes made here. It contains a random number, so that no text can
	// imitate it.
	mark string

	mu   sync.Mutex // guards the fields below
	w    io.Writer
	raw  bool
	tail []byte // the incomplete character at the end of the text so far
}

// New returns a writer to w.
func New(w io.Writer, o Options) *Writer {
	const columns = 100
	out := &Writer{w: &firstErrorWriter{w: w}, color: o.Terminal && o.Color, width: o.Columns,
		filters: o.Terminal, mark: fmt.Sprintf("%s%d;", csi, rand.Uint64())}
	if out.width <= 0 {
		out.width = columns
	}
	return out
}

// firstErrorWriter keeps the first error of a writer, and writes no more after it.
type firstErrorWriter struct {
	w   io.Writer
	err error
}

// Write writes.
func (s *firstErrorWriter) Write(p []byte) (n int, err error) {
	if s.err == nil {
		n, s.err = s.w.Write(p)
	}
	return n, s.err
}

// Raw has every byte pass from now on, on a terminal as well.
func (w *Writer) Raw() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.raw = true
}

// Terminal reports whether the stream leads to a terminal.
func (w *Writer) Terminal() bool { return w.filters }

// Width returns the number of columns.
func (w *Writer) Width() int { return w.width }

// Write writes text. Unless an error occurs, it returns len(p), even if the written text differs
// from p.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.filters {
		return w.w.Write(p)
	}
	text, rest := whole(append(w.tail, p...))
	w.tail = append([]byte(nil), rest...)
	if _, err := io.WriteString(w.w, w.filtered(string(text))); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (w *Writer) filtered(s string) string {
	if w.raw {
		return strings.ReplaceAll(s, w.mark, csi)
	}
	return visible.Marked(s, w.mark, csi)
}

// Flush writes what a character that was cut off at the end of the text has. The error is the
// first one of all that was written.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := io.WriteString(w.w, w.filtered(string(w.tail)))
	w.tail = nil
	return err
}

// whole splits p into complete characters and an incomplete last one.
func whole(p []byte) (text, rest []byte) {
	for n := 1; n < utf8.UTFMax && n <= len(p); n++ {
		if end := p[len(p)-n:]; utf8.RuneStart(end[0]) {
			if !utf8.FullRune(end) {
				return p[:len(p)-n], end
			}
			break
		}
	}
	return p, nil
}

// Style returns s in the named color, to be written by this writer.
func (w *Writer) Style(name, s string) string {
	if !w.color || name == "" || s == "" {
		return s
	}
	st := lipgloss.NewStyle().Bold(bold[name])
	if c := palette[name]; c != "" {
		st = st.Foreground(lipgloss.Color(c))
	}
	begin, end, _ := strings.Cut(strings.ReplaceAll(st.Render("x"), csi, w.mark), "x")
	return begin + s + end
}

// Bare returns an unfiltered writer to the same stream, for programs that move the cursor.
// Untrusted text must be passed through [Visible] first.
func (w *Writer) Bare() io.Writer { return bareWriter{w} }

type bareWriter struct{ *Writer }

func (w bareWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.w.Write(p)
}

// JSON returns a writer of JSON to the same stream. On a terminal it writes characters that the
// terminal would interpret or hide as escapes, except after [Writer.Raw].
func (w *Writer) JSON() io.Writer { return jsonWriter{w} }

type jsonWriter struct{ *Writer }

func (w jsonWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.filters || w.raw {
		return w.w.Write(p)
	}
	text, rest := whole(append(w.tail, p...))
	w.tail = append([]byte(nil), rest...)
	if _, err := io.WriteString(w.w, escaped(string(text))); err != nil {
		return 0, err
	}
	return len(p), nil
}
