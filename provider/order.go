package provider

import (
	"bytes"
	"errors"
	"strings"

	"github.com/precis-dev/precis/model"
	"github.com/precis-dev/precis/models"
)

// order is a request together with the client's settings for it.
type order struct {
	model.Request
	model  string
	effort string
	limit  int // of the output in tokens; 0: a live request keeps its own
	// chatLimit is the name of the output limit in the chat dialect, used when
	// the live request has none.
	chatLimit string
}

// The two names of the output limit in the chat dialect. OpenAI's reasoning
// models refuse the older one; many other servers do not know the newer one.
const (
	olderLimit = "max_tokens"
	newerLimit = "max_completion_tokens"
)

// write returns the body of r. chatLimit is the name of the output limit in the
// chat dialect, where the request has none yet.
func (c *Client) write(r model.Request, chatLimit string) ([]byte, error) {
	if len(r.Messages) == 0 {
		return nil, errors.New("the request has no messages")
	}
	o := order{
		Request:   r,
		model:     c.config.Model,
		effort:    c.config.Effort,
		limit:     c.outputLimit(r),
		chatLimit: chatLimit,
	}
	if r.Body == nil {
		return c.api.fresh(o), nil
	}
	return c.api.ride(o)
}

// outputLimit returns the output limit of r: the requested one, else the
// model's, else a default, and never more than the model's. A live request
// keeps its own limit when r requests none.
func (c *Client) outputLimit(r model.Request) int {
	most := c.config.Info.MaxOutput
	switch {
	case r.MaxTokens > 0 && most > 0:
		return min(r.MaxTokens, most)
	case r.MaxTokens > 0:
		return r.MaxTokens
	case r.Body != nil:
		return 0
	case most > 0:
		return most
	}
	return models.DefaultMaxOutput
}

// chatLimit returns the name of the output limit that the client assumes the
// server accepts in the chat dialect.
func (c *Client) chatLimit() string {
	if c.config.newerLimit() != c.otherLimit.Load() {
		return newerLimit
	}
	return olderLimit
}

// newerLimit reports whether the server is expected to accept the newer name.
func (c Config) newerLimit() bool {
	return strings.HasPrefix(c.BaseURL, "https://api.openai.com/") || reasons(c.Model)
}

// reasons reports whether model is an OpenAI model that thinks before it answers, at any provider:
// the o series, and all models since GPT-5.
func reasons(model string) bool {
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	if version, ok := strings.CutPrefix(name, "gpt-"); ok {
		return version != "" && version[0] >= '5' && version[0] <= '9'
	}
	return len(name) > 1 && name[0] == 'o' && name[1] >= '1' && name[1] <= '9'
}

// rewrite returns r with the other name of the output limit, and remembers that
// name, if e states that the server does not accept the one in body.
func (c *Client) rewrite(r model.Request, body []byte, used string, e *model.Error) ([]byte, bool) {
	if e.Fault != model.FaultRequest || e.Status != 400 && e.Status != 422 {
		return nil, false
	}
	text := strings.ToLower(string(e.Body))
	if !strings.Contains(text, used) || !refusesName(text) {
		return nil, false
	}
	other := newerLimit
	if used == newerLimit {
		other = olderLimit
	}
	rewritten, err := c.write(r, other)
	if err != nil || bytes.Equal(rewritten, body) {
		return nil, false // the live request itself chose the name
	}
	c.otherLimit.Store(c.config.newerLimit() == (used == newerLimit))
	return rewritten, true
}

// refusesName reports whether an error text is about the name of a field, not
// its value.
func refusesName(body string) bool {
	for _, words := range []string{"unsupported", "not supported", "unrecognized", "unknown", "unexpected",
		"not permitted", "not allowed", "instead"} {
		if strings.Contains(body, words) {
			return true
		}
	}
	return false
}
