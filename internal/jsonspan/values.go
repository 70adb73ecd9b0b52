package jsonspan

import (
	"errors"
	"io"
	"iter"
)

// Values yields the consecutive JSON values in raw, as in a line that two writers shared. Iteration
// ends after the first error.
func Values(raw []byte) iter.Seq2[Span, error] {
	return func(yield func(Span, error) bool) {
		d := decoder(raw)
		defer d.release()
		for {
			v, err := d.ReadValue()
			if errors.Is(err, io.EOF) {
				return
			}
			end := int(d.InputOffset())
			if err != nil {
				yield(Span{Offset: end}, fault(d, err))
				return
			}
			start := end - len(v)
			if !yield(Span{Raw: raw[start:end:end], Offset: start}, nil) {
				return
			}
		}
	}
}
