package gateway

import (
	"precis/gateway/admission"
)

// request is the body of a request as the client sent it.
type request struct {
	body       []byte // without compression
	compressed bool   // it came compressed
	encoded    bool   // it is compressed in a way that is not known here; body is as it came
}

// read reads the body of the request. The place of a request that is answered is
// taken when the body is there: one that comes slowly keeps none from others.
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
