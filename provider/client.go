package provider

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"

	"precis"
	"precis/models"
)

// Client asks one model. It is a [precis.Model], safe for concurrent use, and
// starts no goroutine that outlives a call.
type Client struct {
	config  Config // complete
	api     api
	breaker *gobreaker.CircuitBreaker[precis.ModelResponse]

	otherLimit atomic.Bool // the server knows the other name of the output limit
}

var _ precis.Model = (*Client)(nil)

// api is one dialect: how a request is written, sent and its answer read.
type api interface {
	// fresh returns the body of a request of its own.
	fresh(o order) []byte
	// ride returns o.Body with what belongs to o in the place of its own.
	ride(o order) ([]byte, error)
	// ask sends x and tells a what comes back. Whether that is a whole answer is
	// for [Client.attempt] to judge.
	ask(ctx context.Context, x *exchange, a *answer) error
}

// New returns a client. The error is [precis.CodeInvalid] and names the field of
// c that is at fault. c and what it holds may be changed afterwards.
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

// String says which model is asked and where.
func (c *Client) String() string { return c.config.String() }

// Info says what is known of the model.
func (c *Client) Info() precis.ModelInfo { return c.config.Info }

// Price returns what usage costs in US dollars, 0 when the prices are unknown.
// The usage counts as the dialect does: input tokens include cached ones except
// with "anthropic".
func (c *Client) Price(u precis.Usage) float64 {
	return models.Cost(protocolOf(c.config.Dialect), c.config.Prices, u, c.config.Tier).USD
}

// Generate asks for a text. Beside an error the response says what the attempts
// used and cost, and nothing of what they wrote. The error is a
// [precis.ModelError], or a [precis.Error] with [precis.CodeCanceled] when ctx
// ended.
func (c *Client) Generate(ctx context.Context, r precis.ModelRequest) (precis.ModelResponse, error) {
	started := time.Now()
	limit := c.chatLimit()
	body, err := c.write(r, limit)
	if err != nil {
		return precis.ModelResponse{}, &precis.ModelError{Fault: precis.FaultRequest, Err: err}
	}
	resp, err := c.breaker.Execute(func() (precis.ModelResponse, error) {
		return c.persist(ctx, r, body, limit)
	})
	if errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests) {
		err = &precis.ModelError{Fault: precis.FaultBreaker, Err: errBreaker}
	}
	resp.Took = time.Since(started)
	return resp, err
}

var errBreaker = errors.New("it failed too often a short time ago")

func newBreaker(b Breaker) *gobreaker.CircuitBreaker[precis.ModelResponse] {
	return gobreaker.NewCircuitBreaker[precis.ModelResponse](gobreaker.Settings{
		Timeout: b.Cooldown,
		ReadyToTrip: func(n gobreaker.Counts) bool {
			return b.Failures > 0 && int(n.ConsecutiveFailures) >= b.Failures
		},
		IsSuccessful: func(err error) bool { return !broken(err) },
		IsExcluded:   func(err error) bool { return precis.CodeOf(err) == precis.CodeCanceled },
	})
}

// broken reports whether err says that the next request will fail, too.
func broken(err error) bool {
	var e *precis.ModelError
	return errors.As(err, &e) && (e.Retryable() || e.Fault == precis.FaultAuth)
}

// sameHost returns a copy of client, or a client of its own, that follows only
// redirects which keep the host and the method. The header that Anthropic's keys
// travel in goes wherever a redirect leads.
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
		if req.URL.Scheme != first.URL.Scheme || req.URL.Host != first.URL.Host || req.Method != first.Method || len(via) > 3 {
			return http.ErrUseLastResponse
		}
		return nil
	}
	return &own
}
