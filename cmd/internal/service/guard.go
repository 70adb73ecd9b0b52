package service

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"

	"precis"
	"precis/gateway"
)

// headerKey carries the gateway's own key.
const headerKey = "X-Precis-Key"

// guard refuses what a page in a browser may have sent without its user: requests
// by a name that is not the gateway's, and from pages of others. It stands before
// everything, the proxy included.
func (s *Service) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := s.foreign(r); err != nil {
			refuse(w, http.StatusForbidden, err)
			return
		}
		s.translateKey(r)
		next.ServeHTTP(w, r)
	})
}

// foreign reports why a request must not come from where it comes from.
func (s *Service) foreign(r *http.Request) error {
	hosts := s.config().Gateway.Hosts
	if origin := r.Header.Get("Origin"); origin != "" && slices.Contains(hosts, origin) {
		r = r.Clone(r.Context()) // an origin that is allowed as it is, such as app://name
		r.Header.Del("Origin")
	}
	if err := gateway.SameOrigin(r, hosts); err != nil {
		return err
	}
	// Requests that a page makes without reading the answer, such as for an image,
	// have no Origin.
	site := r.Header.Get("Sec-Fetch-Site")
	if (site == "cross-site" || site == "same-site") && r.Header.Get("Origin") == "" && r.Header.Get("Sec-Fetch-Mode") != "navigate" {
		return precis.Errorf(precis.CodeInvalid, "check origin", "a page of another site asks")
	}
	return nil
}

// checked hands over requests that have passed the guard. The names that are
// allowed may have changed since next was made, which therefore sees none.
func checked(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = r.Clone(r.Context())
		r.Host = "localhost"
		r.Header.Del("Origin")
		next.ServeHTTP(w, r)
	})
}

// insider lets in who may see how the gateway fares, and what is in it: holders
// of a key, and, where none is asked for, this machine.
func (s *Service) insider(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.keys.any() && !s.keys.admits(r) || !s.keys.any() && !fromHere(r) {
			refuse(w, http.StatusUnauthorized, &precis.Error{Code: precis.CodeInvalid, Op: "check caller",
				Err: fmt.Errorf("only callers with a gateway key, or on the gateway's machine, may see this")})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// fromHere reports whether a request comes from this machine, and was not passed
// on by a proxy on it.
func fromHere(r *http.Request) bool {
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Real-Ip"} {
		if r.Header.Get(name) != "" {
			return false
		}
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	return err == nil && loopback(host)
}

// refuse answers as the gateway does for its own errors.
func refuse(w http.ResponseWriter, status int, err error) {
	code := string(precis.CodeOf(err))
	body, _ := json.Marshal(map[string]any{"type": "error", "error": map[string]any{"type": "permission_error", "code": code, "message": "precis: " + err.Error()}}) // never fails
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("X-Precis-Error", code)
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client is gone otherwise
}
