package upstream

import (
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/url"
)

// NewTransport returns a transport with HTTP/2, keep-alive and the proxies of the environment. It
// relays bodies as they are.
func NewTransport() http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 512, 256
	t.DisableCompression = true // relay bodies as received
	t.WriteBufferSize, t.ReadBufferSize = 64<<10, 32<<10
	return t
}

// HintOf returns a remedy for a connection error of an upstream; "": no remedy is known.
func HintOf(err error) string {
	var unknown x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	var host x509.HostnameError
	if errors.As(err, &unknown) || errors.As(err, &invalid) || errors.As(err, &host) {
		return "the certificate is not trusted here; name that of your proxy or server in the variable NODE_EXTRA_CA_CERTS"
	}
	return ""
}

// PlainError returns a connection error without its URL, which may hold secrets.
func PlainError(err error) string {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err.Error()
	}
	return err.Error()
}
