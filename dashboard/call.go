package dashboard

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/internal/origin"
)

// call is one request to the dashboard.
type call struct {
	*dash
	w     http.ResponseWriter
	r     *http.Request
	home  conversation.Home // nil before the caller is known
	prefs prefs
	token string     // what forms must send back
	typed url.Values // of a form of a known caller; nil: the request is no form
}

// contentPolicy is the Content-Security-Policy of every answer.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// ServeHTTP answers a request.
func (d *dash) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	if err := origin.Check(r, d.o.Hosts); err != nil {
		d.begin(w, r).fail(refusal{http.StatusForbidden, err})
		return
	}
	d.mux.ServeHTTP(w, r)
}

// begin reads the reader's preferences from a request.
func (d *dash) begin(w http.ResponseWriter, r *http.Request) *call {
	c := &call{dash: d, w: w, r: r}
	c.prefs = d.readPrefs(r)
	c.token = c.formToken()
	return c
}

// open serves a page that needs no caller.
func (d *dash) open(f func(*call) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := d.begin(w, r)
		if err := f(c); err != nil {
			c.fail(err)
		}
	})
}

// page serves a page to a caller who may see conversations.
func (d *dash) page(f func(*call) error) http.Handler {
	return d.open(func(c *call) (err error) {
		if c.home, err = d.o.Home(c.r); err == nil {
			return f(c)
		}
		if !errors.Is(err, ErrLogin) || d.o.Login == nil {
			return refusal{http.StatusForbidden, err}
		}
		if c.part() || c.r.URL.Path == d.o.Base+"live" {
			return refusal{http.StatusUnauthorized, err}
		}
		to := url.URL{Path: d.o.Base + "login", RawQuery: url.Values{"back": {c.r.URL.RequestURI()}}.Encode()}
		http.Redirect(c.w, c.r, to.String(), http.StatusSeeOther)
		return nil
	})
}

// form serves a form that a caller has sent.
func (d *dash) form(f func(*call) error) http.Handler {
	return d.page(d.guarded(mostForm, func(c *call) error {
		c.typed = c.r.PostForm
		return f(c)
	}))
}

// refusal is an error with a status of its own.
type refusal struct {
	status int
	err    error
}

func (r refusal) Error() string { return r.err.Error() }
func (r refusal) Unwrap() error { return r.err }

// statuses are the HTTP statuses of errors.
var statuses = map[precis.Code]int{
	precis.CodeInvalid: http.StatusBadRequest, precis.CodeNotFound: http.StatusNotFound,
	precis.CodeConflict:   http.StatusConflict,
	precis.CodeOverBudget: http.StatusUnprocessableEntity, precis.CodeWouldLose: http.StatusConflict,
	precis.CodeUpstream: http.StatusBadGateway, precis.CodeInternal: http.StatusInternalServerError,
}

// problem is the content of an error page.
type problem struct {
	Status int
	Code   precis.Code
	Text   string
	Hint   string
	Action string  // address of the form that failed; "": it was no form
	Fields []field // what the form sent, so that it can be corrected and sent again
}

// field is one field of a form.
type field struct{ Name, Value string }

// fail answers with the page of an error.
func (c *call) fail(err error) {
	code := precis.CodeOf(err)
	p := problem{Status: statuses[code], Code: code,
		Text: c.texts.Problem(c.prefs.Lang, c.sentences[c.prefs.Lang], err)}
	if r, ok := errors.AsType[refusal](err); ok {
		p.Status = r.status
	}
	if p.Status == 0 {
		p.Status = http.StatusInternalServerError
	}
	if e, ok := errors.AsType[*precis.Error](err); ok {
		p.Hint, _ = c.sentences[c.prefs.Lang].Translate(e.Hint)
	}
	if code == precis.CodeInternal && p.Status >= http.StatusInternalServerError {
		c.o.Logger.ErrorContext(c.r.Context(), "the dashboard cannot answer", "path", c.r.URL.Path, "code",
			string(code))
	}
	if p.Status < http.StatusInternalServerError && c.typed != nil {
		p.Action = c.r.URL.RequestURI()
		for _, name := range slices.Sorted(maps.Keys(c.typed)) {
			for _, value := range c.typed[name] {
				if name != "token" {
					p.Fields = append(p.Fields, field{name, value})
				}
			}
		}
	}
	c.write(p.Status, "error", page{Title: c.text("error.title"), Data: p})
}

func (c *call) nowhere() error {
	return refusal{http.StatusNotFound,
		precis.Errorf(precis.CodeNotFound, "open page", "there is no such page")}
}

func (c *call) ctx() context.Context { return c.r.Context() }

func (c *call) id() string { return c.r.PathValue("id") }

// part reports whether the script requests part of a page.
func (c *call) part() bool { return c.r.URL.Query().Get("part") != "" }

// value returns a parameter of the query.
func (c *call) value(name string) string { return c.r.URL.Query().Get(name) }

// number returns a parameter of the query as a number; otherwise if it is not one.
func (c *call) number(name string, otherwise int) int {
	n, err := strconv.Atoi(c.value(name))
	if err != nil {
		return otherwise
	}
	return n
}

// path returns the address of a page: the base and escaped segments. The last argument may be a
// query, which begins with a question mark.
func (d *dash) path(segments ...string) string {
	out, query := make([]string, 0, len(segments)), ""
	for _, s := range segments {
		if strings.HasPrefix(s, "?") {
			query = s
			continue
		}
		out = append(out, url.PathEscape(s))
	}
	return d.o.Base + strings.Join(out, "/") + query
}

// inside returns an address of the dashboard unchanged, and the first page for any other address.
func (d *dash) inside(to string) string {
	if u, err := url.Parse(to); err == nil && u.Host == "" && u.Scheme == "" && u.Opaque == "" &&
		strings.HasPrefix(u.EscapedPath(), d.o.Base) && !strings.Contains(to, "\\") {
		return to
	}
	return d.o.Base
}
