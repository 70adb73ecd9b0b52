package provider

import (
	"cmp"
	"fmt"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/model"
	"github.com/precis-dev/precis/models"
	"github.com/precis-dev/precis/wire/anthropic"
	"github.com/precis-dev/precis/wire/chat"
	"github.com/precis-dev/precis/wire/responses"
)

// Config configures a [Client]: the model, its address and the limits of
// requests. Model is needed; the zero value of every other field is a default.
type Config struct {
	// Dialect is "anthropic", "chat" or "responses"; empty means "anthropic" for
	// Claude models and "chat" for all others.
	Dialect string
	// BaseURL is the URL before the API paths: before /v1/messages for "anthropic" (a final /v1 is
	// dropped), before /chat/completions or /responses for the others. Empty means the API of
	// Anthropic or OpenAI.
	BaseURL string
	// Key is the API key. It is never part of an error or a log. Empty sends no key.
	Key string `json:"-"`
	// Headers are sent with each request and replace headers of the same name. They may hold keys,
	// too.
	Headers http.Header `json:"-"`

	// Model is the model's ID as spelled by the API.
	Model string
	// Info holds the known properties of the model. Its ID and Dialect are set
	// by [New].
	Info model.Info
	// Prices and Tier determine the cost of usage; see [models.Cost].
	Prices models.Prices
	Tier   string
	// Effort is the reasoning effort that a fresh request of the chat and responses dialects asks
	// for; empty leaves it to the API.
	Effort string

	// Timeout bounds a whole attempt; 0 means 5 minutes.
	Timeout time.Duration
	// Idle bounds the wait for the first byte of an answer and for each further
	// one; 0 means 60 seconds.
	Idle time.Duration
	// Retries is how often a failed request is retried; 0 means twice, a negative number never.
	Retries int
	// Pause is the pause before the first retry, unless the API states one; each further pause is
	// about twice as long. 0 means 1 second.
	Pause time.Duration
	// MaxWait is the longest pause stated by the API that the client accepts; a request that would
	// have to wait longer fails at once. 0 means 60 seconds.
	MaxWait time.Duration
	// Breaker configures when requests fail without being sent.
	Breaker Breaker
	// HTTPClient sends the requests; nil means one that uses no proxy. Its
	// redirect policy is not used: only redirects to the same host are followed.
	HTTPClient *http.Client `json:"-"`
}

// Breaker configures when requests fail at once with [model.FaultBreaker]
// because earlier ones failed. Requests that the API refused for their content
// do not count, nor do canceled ones.
type Breaker struct {
	// Failures is how many requests in a row must fail, their retries included;
	// 0 means 5, a negative number turns the breaker off.
	Failures int
	// Cooldown is how long no request is sent after that; 0 means 1 minute. Then one request is
	// sent, and its outcome decides.
	Cooldown time.Duration
}

const (
	defaultTimeout  = 5 * time.Minute
	defaultIdle     = 60 * time.Second
	defaultMaxWait  = 60 * time.Second
	defaultRetries  = 2
	defaultFailures = 5
	defaultCooldown = time.Minute
)

// String names the model and its address, without the key.
func (c Config) String() string {
	return fmt.Sprintf("%s (%s) at %s", c.Model, c.dialect(), baseURL(c.dialect(), c.BaseURL))
}

// complete returns c with its defaults. The error names the field at fault.
func (c Config) complete() (Config, error) {
	for _, check := range []struct {
		field string
		check func(Config) error
	}{
		{"Model", Config.checkModel},
		{"Dialect", Config.checkDialect},
		{"BaseURL", Config.checkBaseURL},
		{"Key", Config.checkKey},
		{"Headers", Config.checkHeaders},
		{"Timeout", notNegative(c.Timeout)},
		{"Idle", notNegative(c.Idle)},
		{"Pause", notNegative(c.Pause)},
		{"MaxWait", notNegative(c.MaxWait)},
		{"Breaker.Cooldown", notNegative(c.Breaker.Cooldown)},
	} {
		if err := check.check(c); err != nil {
			return c, &precis.Error{Code: precis.CodeInvalid, Op: "configure model", Place: check.field,
				Err: err}
		}
	}
	c.Dialect = c.dialect()
	c.Info.ID, c.Info.Dialect = c.Model, c.Dialect
	if c.Info.Provider == "" && c.BaseURL == "" {
		c.Info.Provider = string(protocolOf(c.Dialect))
	}
	c.BaseURL = baseURL(c.Dialect, c.BaseURL)
	c.Headers = c.Headers.Clone()
	c.Timeout = cmp.Or(c.Timeout, defaultTimeout)
	c.Idle = cmp.Or(c.Idle, defaultIdle)
	c.Pause = cmp.Or(c.Pause, time.Second)
	c.MaxWait = cmp.Or(c.MaxWait, defaultMaxWait)
	c.Retries = max(0, cmp.Or(c.Retries, defaultRetries))
	c.Breaker.Failures = cmp.Or(c.Breaker.Failures, defaultFailures)
	c.Breaker.Cooldown = cmp.Or(c.Breaker.Cooldown, defaultCooldown)
	return c, nil
}

func (c Config) dialect() string {
	switch {
	case c.Dialect != "":
		return c.Dialect
	case models.Family(c.Model) == "claude":
		return anthropic.Format
	}
	return chat.Format
}

// baseURL returns the URL to which the paths of [api] are appended. The path of the Anthropic API
// begins with v1, which many people write as part of the base.
func baseURL(dialect, base string) string {
	base = strings.TrimRight(base, "/")
	switch {
	case base == "" && dialect == anthropic.Format:
		return "https://api.anthropic.com"
	case base == "":
		return "https://api.openai.com/v1"
	case dialect == anthropic.Format:
		return strings.TrimSuffix(base, "/v1")
	}
	return base
}

func protocolOf(dialect string) models.Protocol {
	if dialect == anthropic.Format {
		return models.Anthropic
	}
	return models.OpenAI
}

func (c Config) checkModel() error {
	if c.Model == "" {
		return fmt.Errorf("a model is needed")
	}
	return nil
}

func (c Config) checkDialect() error {
	known := []string{"", anthropic.Format, chat.Format, responses.Format}
	if !slices.Contains(known, c.Dialect) {
		return fmt.Errorf("unknown dialect %q, want one of %v", c.Dialect, known[1:])
	}
	return nil
}

// checkBaseURL does not quote the URL, which may hold a password.
func (c Config) checkBaseURL() error {
	u, err := url.Parse(c.BaseURL)
	switch {
	case c.BaseURL == "":
		return nil
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("not an http or https URL")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("the URL has more than a host and a path")
	}
	return nil
}

func (c Config) checkKey() error {
	for _, r := range c.Key {
		if r <= ' ' || r >= 0x7f {
			return fmt.Errorf("the key holds a character that keys do not have")
		}
	}
	return nil
}

// ownHeaders belong to the connection, or describe the body.
var ownHeaders = []string{"Accept-Encoding", "Connection", "Content-Encoding", "Content-Length",
	"Content-Type", "Host", "Transfer-Encoding"}

func (c Config) checkHeaders() error {
	for name, values := range c.Headers {
		if !isToken(name) {
			return fmt.Errorf("%q is no name of a header", name)
		}
		if slices.Contains(ownHeaders, textproto.CanonicalMIMEHeaderKey(name)) {
			return fmt.Errorf("%s cannot be set", name)
		}
		for _, v := range values {
			if strings.ContainsFunc(v, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
				return fmt.Errorf("the value of %s holds a control character", name)
			}
		}
	}
	return nil
}

// isToken reports whether s is a token of RFC 9110, section 5.6.2.
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`()<>@,;:\"/[]?={}`, r)
	})
}

func notNegative(d time.Duration) func(Config) error {
	return func(Config) error {
		if d < 0 {
			return fmt.Errorf("%v is negative", d)
		}
		return nil
	}
}
