package dashboard

import (
	"fmt"

	"precis"
	"precis/conversation"
)

// bar is the context bar: what fills a window, in the order of the kinds, with the
// reserve at the right end and a tick where a reduction begins. Places are percentages
// of the width, so that the picture fits any.
type bar struct {
	Segments []segment
	Reserve  segment
	Free     int
	Used     int
	Window   int
	Percent  float64 // used, of the window
	Tick     float64 // where a reduction begins; 0: nowhere
	TickEnd  bool    // the label of the tick stands left of it
	At       int     // tokens of the tick
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
	b.Reserve = segment{"reserve", c.Reserved, 100 - 100*float64(c.Reserved)/whole, 100 * float64(c.Reserved) / whole}
	if c.Threshold > 0 {
		b.Tick = 100 * float64(c.Threshold) / whole
		b.TickEnd = b.Tick > 60
	}
	b.Level = levelOf(b.Percent, c.Warn, c.Used, c.Threshold, c.Window.Tokens)
	return b
}

// levelOf says how near a view is to its limit.
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

// TickPlace writes where the tick is.
func (b bar) TickPlace() string { return place(b.Tick) }

func place(p float64) string { return fmt.Sprintf("%.3f%%", p) }

// Sum returns what the parts add up to: the window, or more when the view does not fit.
func (b bar) Sum() int { return b.Used + b.Free + b.Reserve.Tokens }

// Source says where the numbers of the window, the threshold and the reserve come from.
func (b bar) Source() string {
	from := func(source precis.Source, detail string) string {
		if detail == "" {
			return string(source)
		}
		return string(source) + ": " + detail
	}
	return fmt.Sprintf("%s · %g %% (%s) · %s", from(b.c.Window.Source, b.c.Window.Detail), b.c.Percent, b.c.Origin, from(b.c.Reserve.Source, b.c.Reserve.Detail))
}

// Digest reports whether a segment stands for other messages: it is hatched as well.
func (s segment) Digest() bool { return s.Kind == conversation.KindDigest }
