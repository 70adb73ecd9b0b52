package dashboard

import (
	"fmt"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
)

// bar is the context bar: the contents of a window by kind, with the reserve at the right end and a
// tick at the threshold. Positions are percentages of the width, so that the picture scales.
type bar struct {
	Segments []segment
	Reserve  segment
	Free     int
	Used     int
	Window   int
	Percent  float64 // used share of the window
	Tick     float64 // position of the threshold; 0: none
	TickEnd  bool    // the label of the tick is to the left of it
	At       int     // the threshold in tokens
	Level    string  // ok, near, due or over
	c        conversation.Composition
}

// segment is a part of a bar.
type segment struct {
	Kind   string
	Tokens int
	X, W   float64 // percent of the width
}

// newBar lays out a composition.
func newBar(c conversation.Composition) bar {
	whole := float64(max(c.Window.Tokens, c.Used, 1))
	b := bar{Used: c.Used, Free: c.Free, Window: c.Window.Tokens, Percent: c.Share, At: c.Threshold, c: c}
	x := 0.0
	for _, k := range c.Kinds {
		w := 100 * float64(k.Tokens) / whole
		b.Segments = append(b.Segments, segment{k.Kind, k.Tokens, x, w})
		x += w
	}
	b.Reserve = segment{"reserve", c.Reserved, 100 - 100*float64(c.Reserved)/whole,
		100 * float64(c.Reserved) / whole}
	if c.Threshold > 0 {
		b.Tick = 100 * float64(c.Threshold) / whole
		b.TickEnd = b.Tick > 60
	}
	b.Level = levelOf(b.Percent, c.Warn, c.Used, c.Threshold, c.Window.Tokens)
	return b
}

// levelOf returns how close a view is to its limit.
func levelOf(percent, warn float64, used, threshold, window int) string {
	switch {
	case window > 0 && used > window:
		return "over"
	case threshold > 0 && used >= threshold:
		return "due"
	case warn > 0 && percent >= warn:
		return "near"
	}
	return "ok"
}

// Place writes a percentage for an attribute of the picture.
func (s segment) Place() string { return place(s.X) }

// Width writes the width for an attribute of the picture.
func (s segment) Width() string { return place(s.W) }

// TickPlace writes the position of the tick.
func (b bar) TickPlace() string { return place(b.Tick) }

func place(p float64) string { return fmt.Sprintf("%.3f%%", p) }

// Sum returns the sum of the parts: the window, or more if the view does not fit.
func (b bar) Sum() int { return b.Used + b.Free + b.Reserve.Tokens }

// Source returns the sources of the window, the threshold and the reserve.
func (b bar) Source() string {
	from := func(source precis.Source, detail string) string {
		if detail == "" {
			return string(source)
		}
		return string(source) + ": " + detail
	}
	return fmt.Sprintf("%s · %g %% (%s) · %s", from(b.c.Window.Source, b.c.Window.Detail), b.c.Percent,
		b.c.Origin, from(b.c.Reserve.Source, b.c.Reserve.Detail))
}

// Digest reports whether a segment replaces other messages; then it is also hatched.
func (s segment) Digest() bool { return s.Kind == conversation.KindDigest }
