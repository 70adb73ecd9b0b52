package admission

import (
	"context"
	"runtime"

	"github.com/precis-dev/precis"
)

// Processors limits pure CPU work to one piece of it per processor, so that the first of many pieces
// finish early. It is safe for concurrent use.
type Processors chan struct{}

// NewProcessors returns as many processors as the program uses.
func NewProcessors() Processors { return make(Processors, runtime.GOMAXPROCS(0)) }

// Enter waits for a free processor; leave releases it. The error is [precis.CodeCanceled].
func (p Processors) Enter(ctx context.Context) (leave func(), err error) {
	select {
	case p <- struct{}{}:
		return func() { <-p }, nil
	case <-ctx.Done():
		return nil, precis.Errorf(precis.CodeCanceled, "wait for a processor", "%w", context.Cause(ctx))
	}
}
