package mcpserver

import (
	"context"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mostRequest is the longest body of a request, in bytes.
const mostRequest = 1 << 20

// Handler serves streamable HTTP. Each request is independent, so replicas need to share no state,
// and a client cannot use another client's session. Of returns the options for the client of a
// request; an error is answered with 401. The caller checks Host and Origin. It is safe for
// concurrent use.
func Handler(of func(*http.Request) (Options, error)) http.Handler {
	shared := newSchemas()
	stream := mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server {
		m, _ := r.Context().Value(serverKey{}).(*mcp.Server)
		return m
	}, &mcp.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true,
		MaxRequestBodyBytes: mostRequest})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		o, err := of(r)
		if err != nil {
			http.Error(w, explain(err).Error(), http.StatusUnauthorized)
			return
		}
		m := shared.server(o)
		m.AddReceivingMiddleware(until(r.Context()))
		stream.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), serverKey{}, m)))
	})
}

type serverKey struct{}

// until cancels work when its HTTP request ends, because the answer could no longer be delivered.
func until(request context.Context) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			ctx, cancel := context.WithCancelCause(ctx)
			defer cancel(nil)
			defer context.AfterFunc(request, func() { cancel(context.Cause(request)) })()
			return next(ctx, method, r)
		}
	}
}
