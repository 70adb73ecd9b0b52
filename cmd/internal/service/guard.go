package service

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/origin"
)

// HeaderKey carries the gateway key. HeaderLocal carries the secret that identifies programs of
// this account to a gateway without keys, see [LocalSecret].
const (
	HeaderKey   = "X-Precis-Key"
	HeaderLocal = "X-Precis-Local"
)

// guard refuses requests that a web page may have sent without its user: requests to a foreign host
// name, and from foreign pages. It runs before all other handlers, including the proxy.
func (s *Service) guard(next http.Handler) http.Handler {
	hosts := func() []string { return s.config().Gateway.Hosts }
	foreign := func(w http.ResponseWriter, _ *http.Request, err error) {
		var e *precis.Error
		if errors.As(err, &e) && e.Hint != "" { // a name or an origin that the configuration can allow
			e.Hint = "use localhost or an IP address, or add it to the setting gateway.hosts"
		}
		refuse(w, http.StatusForbidden, err)
	}
	return origin.Handler(hosts, foreign, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r, leave := s.identify(r)
		defer leave()
		next.ServeHTTP(w, r)
	}))
}

// withoutHostCheck passes on requests that the guard has accepted, without Host and Origin checks. The
// allowed names may have changed since next was made.
func withoutHostCheck(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = r.Clone(r.Context())
		r.Host = "localhost"
		r.Header.Del("Origin")
		next.ServeHTTP(w, r)
	})
}

// requireMember admits callers who may see the state and content of the gateway: holders of a key or,
// without keys, callers on this machine.
func (s *Service) requireMember(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.keys.asks && holder(r) == "" || !s.keys.asks && !fromHere(r) {
			refuse(w, http.StatusUnauthorized, &precis.Error{Code: precis.CodeInvalid, Op: "check caller",
				Err: fmt.Errorf("only callers with a gateway key, or on the gateway's machine, may see this")})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// requireAdmin admits callers who may see data of all owners: admins, or every holder of a key if there
// are no admins.
func (s *Service) requireAdmin(next http.Handler) http.Handler {
	return s.requireMember(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, all, _ := s.Gateway.Caller(r); !all && s.admins.Load() {
			refuse(w, http.StatusForbidden,
				precis.Errorf(precis.CodeInvalid, "check caller",
					"only an admin's key may see what concerns all"))
			return
		}
		next.ServeHTTP(w, r)
	}))
}

// proxied are headers that proxies add, some of them only in some configurations.
var proxied = []string{"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto",
	"X-Forwarded-Server", "X-Real-Ip", "X-Client-Ip", "True-Client-Ip", "Cf-Connecting-Ip"}

// fromHere reports whether a request comes from this machine without a local proxy: it must name
// this machine and have no proxy headers, and a proxy that adds none uses HTTP/1.0. Any other proxy
// cannot be distinguished from a browser, so a gateway after one needs keys.
func fromHere(r *http.Request) bool {
	for _, name := range proxied {
		if r.Header.Get(name) != "" {
			return false
		}
	}
	if to, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok &&
		!loopback(hostOf(to.String())) {
		return false
	}
	return r.ProtoAtLeast(1, 1) && loopback(hostOf(r.Host)) && loopback(hostOf(r.RemoteAddr))
}

// hostOf returns an address without its port.
func hostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return strings.Trim(address, "[]")
}

// refuse answers in the format of the gateway's own errors.
func refuse(w http.ResponseWriter, status int, err error) {
	code := string(precis.CodeOf(err))
	switch status { // the API's words, see package control
	case http.StatusUnauthorized:
		code = "unauthorized"
	case http.StatusForbidden:
		code = "forbidden"
	}
	told := map[string]any{"type": "permission_error", "code": code, "message": "precis: " + err.Error()}
	var e *precis.Error
	if errors.As(err, &e) && e.Hint != "" {
		told["hint"] = e.Hint
	}
	body, _ := json.Marshal(map[string]any{"type": "error", "error": told}) // never fails
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("X-Precis-Error", code)
	w.WriteHeader(status)
	_, _ = w.Write(body) // fails only if the client has gone
}
