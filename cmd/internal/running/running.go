// Package running is a client of the control API of the gateway that runs on this machine. Use
// [Open] or [New], and [Client.Do].
package running

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/config"
	"github.com/precis-dev/precis/cmd/internal/service"
	"github.com/precis-dev/precis/gateway/control"
)

// patience is the timeout of a request.
const patience = 10 * time.Second

// Client sends requests to one gateway. It is safe for concurrent use.
type Client struct {
	base   string
	key    string // of the gateway; "" if it requires no keys
	secret string // see package localsecret; "" if it cannot be read
	http   *http.Client
}

// Open returns a client of the gateway that a configuration describes, with the key in a file; "":
// no key.
func Open(g config.Gateway, keyFile string) (*Client, error) {
	key := ""
	if keyFile != "" {
		data, err := os.ReadFile(keyFile)
		if err != nil {
			return nil, &precis.Error{Code: precis.CodeNotFound, Op: "read key", Place: keyFile, Err: err}
		}
		key = strings.TrimSpace(string(data))
	}
	return New(g, key)
}

// New returns a client of the gateway that a configuration describes. Key is a key of the
// gateway; "" if it requires none.
func New(g config.Gateway, key string) (*Client, error) {
	c := &Client{base: "http://" + g.Listen + control.Prefix, key: key, http: &http.Client{Timeout: patience}}
	if g.CertFile != "" {
		pem, err := os.ReadFile(g.CertFile)
		if err != nil {
			return nil, &precis.Error{Code: precis.CodeNotFound, Op: "read gateway.cert_files",
				Place: g.CertFile, Err: err}
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(pem)
		c.base = "https://" + g.Listen + control.Prefix
		c.http.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots,
			MinVersion: tls.VersionTLS12}}
	}
	c.secret, _ = service.LocalSecret(g) // without it the gateway's error names the missing secret
	return c, nil
}

// Do sends a request with in as its JSON body, if not nil, and decodes the answer into out, if
// not nil. The error has the gateway's own code, or [precis.CodeUpstream] if no gateway answers.
func (c *Client) Do(ctx context.Context, method, path string, in, out any) error {
	const op = "ask the gateway"
	var body io.Reader
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return precis.Errorf(precis.CodeInternal, op, "%w", err)
		}
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return precis.Errorf(precis.CodeInternal, op, "%w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	if c.key != "" {
		req.Header.Set(service.HeaderKey, c.key)
	}
	if c.secret != "" {
		req.Header.Set(service.HeaderLocal, c.secret)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return &precis.Error{Code: precis.CodeUpstream, Op: op, Err: err,
			Hint: "start it with precis gateway, or set gateway.listen to where it listens"}
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	switch {
	case err != nil:
		return precis.Errorf(precis.CodeUpstream, op, "%w", err)
	case res.StatusCode >= 300:
		return refused(op, res.StatusCode, answer)
	case out == nil:
		return nil
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return precis.Errorf(precis.CodeUpstream, op,
			"what answers at this address is no gateway of precis: %w", err)
	}
	return nil
}

// refused returns the error from the gateway's answer.
func refused(op string, status int, answer []byte) error {
	var body struct {
		Error struct {
			Code    precis.Code `json:"code"`
			Message string      `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(answer, &body) != nil || body.Error.Message == "" {
		return precis.Errorf(precis.CodeUpstream, op, "it answered %d", status)
	}
	e := &precis.Error{Code: body.Error.Code, Op: op, Err: errors.New(body.Error.Message)}
	if status == http.StatusUnauthorized || status == http.StatusForbidden {
		e.Code, e.Err = precis.CodeInvalid, fmt.Errorf("%s", body.Error.Message)
		e.Hint = "for a gateway with keys name a file that holds yours: --key-file"
	}
	if e.Code == "" {
		e.Code = precis.CodeUpstream
	}
	return e
}
