package provider

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/model"
	"github.com/precis-dev/precis/wire"
)

// maxWhole is the longest answer in one JSON object that is read, in bytes.
const maxWhole = 2 * maxText

// maxRefusal is how much of an error response is read, in bytes.
const maxRefusal = 64 << 10

var (
	errNotAnswer = errors.New("JSON that is no answer of the API")
	errNotAPI    = errors.New("what came is not an answer of the API")
	errNothing   = errors.New("an empty answer")
)

// exchange is one request and its response.
type exchange struct {
	body    []byte
	headers http.Header   // extra headers; they replace the API's headers of the same name
	idle    *time.Timer   // ends the attempt
	wait    time.Duration // duration of the timer, restarted at each piece of the answer

	fault     *model.Error // set when the response is an error or missing
	final     bool         // the response states that a retry is useless
	whole     []byte       // a JSON object instead of a stream
	readError error        // why reading the response failed
}

// ask sends x and fills a with the answer. [attemptError] decides whether it is complete.
func (c *Client) ask(ctx context.Context, x *exchange, a *answer) error {
	res, err := x.send(ctx, c)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if x.whole == nil {
		err = x.stream(res.Body, c.api, a)
		if err != errTooLong && c.api.stopIsEnd() && a.Stop != "" {
			a.Done, err = true, nil
		}
		return err
	}
	if jsonspan.Valid(x.whole) != nil {
		return errNotAnswer
	}
	if err := a.processEvent(c.api.dialect(), false, x.whole); err != nil {
		return err
	}
	if status := text(memberOf(x.whole, "status")); !a.ended() || status == "queued" ||
		status == "in_progress" {
		return errNotAnswer
	}
	return nil
}

// send sends the request. It returns the response if it is an answer of any kind; otherwise it
// returns the error and stores it in x.fault.
func (x *exchange) send(ctx context.Context, c *Client) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.config.BaseURL+c.api.path(),
		bytes.NewReader(x.body))
	if err != nil {
		return nil, x.fail(&model.Error{Fault: model.FaultRequest, Err: withoutURL(err)})
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "precis")
	c.api.authorize(req.Header, c.config.Key)
	for name, values := range x.headers {
		req.Header[http.CanonicalHeaderKey(name)] = slices.Clone(values)
	}
	res, err := c.config.HTTPClient.Do(req)
	if err != nil {
		return nil, x.fail(&model.Error{Fault: model.FaultConnection, Err: withoutURL(err)})
	}
	res.Body = &watch{body: res.Body, x: x}
	if res.StatusCode >= 300 {
		return nil, x.fail(x.refused(res))
	}
	if err := x.open(res); err != nil {
		res.Body.Close()
		return nil, x.fail(&model.Error{Fault: model.FaultConnection, Status: res.StatusCode, Err: err})
	}
	return res, nil
}

// stream passes the events of a stream to a, until the answer or the stream ends or an event does
// not belong to the API.
func (x *exchange) stream(body io.Reader, of api, a *answer) (failed error) {
	events := wire.Events{Max: maxWhole, Each: func(name string, data []byte) {
		if failed == nil && !a.ended() {
			failed = a.event(of, name, data)
		}
	}}
	buf := make([]byte, 16<<10)
	for {
		n, err := body.Read(buf)
		_, _ = events.Write(buf[:n]) // it never fails
		switch {
		case failed != nil || a.ended():
			return failed
		case err == io.EOF:
			_, _ = events.Write([]byte("\n")) // the last line may lack its end
			events.Flush()
			if failed == errNotAPI {
				failed = errCut // an incomplete event
			}
			return failed
		case err != nil:
			return err
		}
	}
}

func (x *exchange) fail(e *model.Error) error {
	x.fault = e
	return e
}

// refused reads a response that is an error or a redirect.
func (x *exchange) refused(res *http.Response) *model.Error {
	defer res.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(res.Body, maxRefusal)) // the part that was read suffices
	x.final = res.Header.Get("X-Should-Retry") == "false"
	e := &model.Error{
		Status:     res.StatusCode,
		Body:       clip(body),
		RetryAfter: retryAfter(res.Header, time.Now()),
	}
	if res.StatusCode < 400 {
		e.Fault, e.Err = model.FaultRequest, errRedirect
		return e
	}
	judgeStatus(e, body)
	return e
}

var errRedirect = errors.New("a redirect that was not followed: it leads to another host or changes the method")

// open inspects the first bytes of an answer, because servers state wrong content types. It reads a
// JSON object completely, and does not read a stream yet.
func (x *exchange) open(res *http.Response) error {
	r := bufio.NewReader(res.Body)
	switch kind, err := sniff(r); {
	case err != nil:
		return err
	case kind == '{':
		x.whole, err = io.ReadAll(io.LimitReader(r, maxWhole+1))
		if err != nil {
			return errCut
		}
		if len(x.whole) > maxWhole {
			return errTooLong
		}
		res.Body.Close()
		res.Body = http.NoBody
	case kind == ':':
		res.Body = &rest{Reader: r, Closer: res.Body}
	default:
		return fmt.Errorf("%w: its content type is %.60q", errNotAPI, res.Header.Get("Content-Type"))
	}
	return nil
}

// rest is the rest of a body after its first bytes were inspected.
type rest struct {
	io.Reader
	io.Closer
}

// sniff returns the kind of content after white space and a byte order mark: '{' for JSON, ':' for
// a stream of events, 0 for anything else. It does not consume that content.
func sniff(r *bufio.Reader) (byte, error) {
	for {
		c, err := r.Peek(1)
		if err != nil {
			return 0, errNothing
		}
		switch c[0] {
		case ' ', '\t', '\r', '\n', 0xef, 0xbb, 0xbf:
			if _, err := r.Discard(1); err != nil {
				return 0, errNothing
			}
			continue
		case '{', ':':
			return c[0], nil
		}
		word, _ := r.Peek(2)
		if slices.Contains([]string{"da", "ev", "id", "re"}, string(word)) {
			return ':', nil
		}
		return 0, nil
	}
}

// watch relays a response body, restarts the idle timer at each read and
// records how the body ended.
type watch struct {
	body io.ReadCloser
	x    *exchange
}

func (w *watch) Read(p []byte) (int, error) {
	n, err := w.body.Read(p)
	if n > 0 {
		w.x.idle.Reset(w.x.wait)
	}
	if err != nil && err != io.EOF {
		w.x.readError = err
	}
	return n, err
}

func (w *watch) Close() error { return w.body.Close() }

// wholeError returns the JSON object that was sent in place of a stream if it is an error.
func (x *exchange) wholeError() []byte {
	if kind := jsonspan.Kind(memberOf(x.whole, "error")); kind == '{' || kind == '"' {
		return x.whole
	}
	return nil
}
