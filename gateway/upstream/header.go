package upstream

import (
	"net/http"
	"strings"
)

// hopByHop are headers of a single connection, RFC 9110 section 7.6.1.
var hopByHop = []string{"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate",
	"Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

// StripHeader removes the headers that are not for the upstream: headers of a single connection, the
// gateway's own, and headers of proxies that describe the client.
func StripHeader(h http.Header) {
	StripHops(h)
	StripOwn(h)
	stripForwarded(h)
}

// StripOwn removes the gateway's own headers.
func StripOwn(h http.Header) {
	for name := range h {
		if strings.HasPrefix(name, "X-Precis-") {
			delete(h, name)
		}
	}
}

// stripForwarded removes headers of proxies that describe the client.
func stripForwarded(h http.Header) {
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		h.Del(name)
	}
}

// StripHops removes the headers of a single connection.
func StripHops(h http.Header) {
	for _, field := range h["Connection"] {
		for name := range strings.SplitSeq(field, ",") {
			h.Del(strings.TrimSpace(name))
		}
	}
	for _, name := range hopByHop {
		h.Del(name)
	}
}

// ofBody are headers that describe the body of a request or of its answer.
var ofBody = []string{
	"Content-Length", "Content-Type", "Content-Encoding", "Accept", "Accept-Encoding", "Expect", "Range",
	"Idempotency-Key",
	"Cache-Control", "Pragma", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since",
	"If-Range",
}

// StripBody removes the headers that describe the body of a request or of its answer.
func StripBody(h http.Header) {
	for _, name := range ofBody {
		h.Del(name)
	}
}
