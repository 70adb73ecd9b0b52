package provider

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/model"
	"github.com/precis-dev/precis/models"
	"github.com/precis-dev/precis/wire"
)

// Client sends requests to one model. It is a [model.Model], safe for
// concurrent use, and starts no goroutine that outlives a call.
type Client struct {
	config  Config // complete
	api     api
	breaker *gobreaker.CircuitBreaker[model.Response]

	otherLimit atomic.Bool // the server only accepts the other name of the output limit
}

var _ model.Model = (*Client)(nil)

// api is one API: the format and path of requests, and the format of answers.
type api interface {
	// fresh returns the body of a separate request.
	fresh(o order) []byte
	// ride returns o.Body with its messages and settings replaced by the ones in o.
	ride(o order) ([]byte, error)
	// path is the path of requests below the base URL.
	path() string
	// authorize sets the headers of the API; key may be empty.
	authorize(h http.Header, key string)
	// dialect reads answers.
	dialect() wire.Dialect
	// stopIsEnd reports whether an answer is complete once it has a stop reason, even if no end
	// marker follows.
	stopIsEnd() bool
}

// New returns a client. The error is [precis.CodeInvalid] and names the field of c at fault. The
// caller may change c and its contents afterwards.
func New(c Config) (*Client, error) {
	c, err := c.complete()
	if err != nil {
		return nil, err
	}
	c.HTTPClient = sameHost(c.HTTPClient)
	return &Client{
		config:  c,
		api:     newAPI(c),
		breaker: newBreaker(c.Breaker),
	}, nil
}

// String names the model and its address.
func (c *Client) String() string { return c.config.String() }

// Info returns the known properties of the model.
func (c *Client) Info() model.Info { return c.config.Info }

// Price returns the cost of usage in US dollars: the provider's figure, else by the configured
// prices, 0 if these are unknown. The usage counts as the dialect does: input tokens include cached
// ones except with "anthropic".
func (c *Client) Price(u precis.Usage) float64 {
	if u.StatedUSD > 0 {
		return u.StatedUSD
	}
	return models.Cost(protocolOf(c.config.Dialect), c.config.Prices, u, c.config.Tier).USD
}

// Generate sends the request until an answer is complete or an attempt fails
// for good. With an error, the response holds the usage and cost of the
// attempts, and none of their text. The error is a [model.Error], or a
// [precis.Error] with [precis.CodeCanceled] when ctx ended.
func (c *Client) Generate(ctx context.Context, r model.Request) (model.Response, error) {
	started := time.Now()
	limit := c.chatLimit()
	body, err := c.write(r, limit)
	if err != nil {
		return model.Response{}, &model.Error{Fault: model.FaultRequest, Err: err}
	}
	resp, err := c.breaker.Execute(func() (model.Response, error) {
		return c.sendWithRetries(ctx, r, body, limit)
	})
	if errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests) {
		err = &model.Error{Fault: model.FaultBreaker, Err: errBreaker}
	}
	resp.Took = time.Since(started)
	return resp, err
}

var errBreaker = errors.New("it failed too often a short time ago")

func newBreaker(b Breaker) *gobreaker.CircuitBreaker[model.Response] {
	return gobreaker.NewCircuitBreaker[model.Response](gobreaker.Settings{
		Timeout: b.Cooldown,
		ReadyToTrip: func(n gobreaker.Counts) bool {
			return b.Failures > 0 && int(n.ConsecutiveFailures) >= b.Failures
		},
		IsSuccessful: func(err error) bool { return !isPersistent(err) },
		IsExcluded:   func(err error) bool { return precis.CodeOf(err) == precis.CodeCanceled },
	})
}

// isPersistent reports whether err means that the next request will fail, too.
func isPersistent(err error) bool {
	var e *model.Error
	return errors.As(err, &e) && (e.Retryable() || e.Fault == model.FaultAuth)
}

// sameHost returns a copy of client, or a new client, that follows only
// redirects which keep the host and the method: the header with Anthropic's key
// would otherwise be sent to wherever a redirect leads.
func sameHost(client *http.Client) *http.Client {
	own := http.Client{}
	if client != nil {
		own = *client
	} else {
		transport := &http.Transport{ForceAttemptHTTP2: true}
		if usual, ok := http.DefaultTransport.(*http.Transport); ok {
			transport = usual.Clone()
		}
		transport.Proxy = nil
		own.Transport = transport
	}
	own.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		first := via[0]
		if req.URL.Scheme != first.URL.Scheme || req.URL.Host != first.URL.Host ||
			req.Method != first.Method || len(via) > 3 {
			return http.ErrUseLastResponse
		}
		return nil
	}
	return &own
}
