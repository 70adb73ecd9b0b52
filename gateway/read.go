package gateway

import (
	"net/http"
	"sync"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway/admission"
)

// request is the body of a request as the client sent it.
type request struct {
	body       []byte // uncompressed
	compressed bool   // it came compressed
	encoded    bool   // its compression is unknown; body is still compressed
}

// read reads the body of the request. The request takes its place among those being answered only
// after its body has arrived, so that slow bodies do not block others.
func (x *exchange) read() (*request, error) {
	leave, err := x.g.gate.Enter(admission.Bodies, x.owner)
	if err != nil {
		return nil, err
	}
	defer leave()
	if x.held, err = x.g.gate.Read(x.out.w, x.r); err != nil {
		return nil, err
	}
	return &request{body: x.held.Bytes, compressed: x.held.Compressed, encoded: x.held.Encoded}, nil
}

// ReadBody reads the body of a request for [Gateway.Assemble], within the limits for forwarded
// requests. Done releases the place and the memory of the request; call it when the request is
// answered. The error is one of package admission, or [precis.CodeInvalid] for an unknown
// compression.
func (g *Gateway) ReadBody(w http.ResponseWriter, r *http.Request) (body []byte, done func(), err error) {
	owner, err := g.owner(r, nil, "")
	if err != nil {
		return nil, nil, err
	}
	x := exchange{g: g, r: r, owner: owner, out: responder{w: w}}
	q, err := x.read()
	if err == nil && q.encoded {
		x.held.Release()
		err = precis.Errorf(precis.CodeInvalid, "read request",
			"the Content-Encoding is %.40q, want gzip or zstd", r.Header.Get("Content-Encoding"))
	}
	if err != nil {
		return nil, nil, err
	}
	leave, err := g.gate.Enter(admission.Turns, owner)
	if err != nil {
		x.held.Release()
		return nil, nil, err
	}
	return q.body, sync.OnceFunc(func() { leave(); x.held.Release() }), nil
}
