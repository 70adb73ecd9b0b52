package console

import (
	"context"
	"io"

	"github.com/precis-dev/precis"
)

// Input returns a reader of standard input that fails when ctx ends. A read that has begun cannot
// be interrupted; the process ends soon.
func (c *Console) Input(ctx context.Context) io.Reader { return &input{ctx: ctx, from: c.In} }

type input struct {
	ctx  context.Context
	from io.Reader
	rest []byte // read but not yet returned
	err  error  // returned after rest
}

// Read reads into its own buffer, which a pending read may keep using.
func (in *input) Read(p []byte) (int, error) {
	if len(in.rest) == 0 && in.err == nil {
		in.fill()
	}
	n := copy(p, in.rest)
	if in.rest = in.rest[n:]; len(in.rest) > 0 {
		return n, nil
	}
	return n, in.err
}

func (in *input) fill() {
	type result struct {
		data []byte
		err  error
	}
	const size = 64 << 10
	done := make(chan result, 1)
	go func() {
		buf := make([]byte, size)
		n, err := in.from.Read(buf)
		done <- result{buf[:n], err}
	}()
	select {
	case <-in.ctx.Done():
		in.err = precis.Errorf(precis.CodeCanceled, "read standard input", "%w", context.Cause(in.ctx))
	case r := <-done:
		in.rest, in.err = r.data, r.err
	}
}

// ReadInput reads standard input until it or ctx ends.
func (c *Console) ReadInput(ctx context.Context) ([]byte, error) {
	data, err := io.ReadAll(c.Input(ctx))
	if err != nil && precis.CodeOf(err) != precis.CodeCanceled {
		err = precis.Errorf(precis.CodeInternal, "read standard input", "%w", err)
	}
	return data, err
}

// IsInput reports whether a path names standard input: "-", or a device name of Unix systems that
// scripts use for commands without "-".
func IsInput(path string) bool {
	switch path {
	case "-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0":
		return true
	}
	return false
}
