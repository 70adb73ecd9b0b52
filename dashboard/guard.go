package dashboard

import (
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"net/http"
	"time"

	"precis"
)

const (
	tokenCookie = "precis_form"
	smallForm   = 64 << 10 // bytes of a form that anybody may send
	mostForm    = 4 << 20  // bytes of one that a caller who is known sends: a digest may be edited
)

// formToken returns what forms must send back: the value of a cookie that no page of
// another site can read or set. A reader without one gets one.
func (c *call) formToken() string {
	if k, err := c.r.Cookie(tokenCookie); err == nil && len(k.Value) == len(rand.Text()) {
		return k.Value
	}
	token := rand.Text()
	c.setCookie(tokenCookie, token, 0)
	return token
}

// setCookie sets a cookie for the pages of the dashboard; with an age of 0 until the
// browser is closed.
func (c *call) setCookie(name, value string, age time.Duration) {
	http.SetCookie(c.w, &http.Cookie{
		Name: name, Value: value, Path: c.o.Base, MaxAge: int(age.Seconds()), HttpOnly: true, Secure: c.r.TLS != nil, SameSite: http.SameSiteStrictMode,
	})
}

// guarded refuses a form that another site may have sent: by the headers of the
// browser, and by the token of the page. It reads so many bytes at most.
func (d *dash) guarded(most int64, f func(*call) error) func(*call) error {
	cross := http.NewCrossOriginProtection()
	return func(c *call) error {
		const op = "read form"
		if err := cross.Check(c.r); err != nil {
			return refusal{http.StatusForbidden, precis.Errorf(precis.CodeInvalid, op, "a page of another site asks")}
		}
		c.r.Body = http.MaxBytesReader(c.w, c.r.Body, most)
		if err := c.r.ParseForm(); err != nil {
			return precis.Errorf(precis.CodeInvalid, op, "the form cannot be read")
		}
		k, err := c.r.Cookie(tokenCookie)
		if err != nil || len(k.Value) != len(rand.Text()) || subtle.ConstantTimeCompare([]byte(k.Value), []byte(c.r.PostForm.Get("token"))) != 1 {
			return refusal{http.StatusForbidden, &precis.Error{
				Code: precis.CodeInvalid, Op: op, Err: errors.New("the form does not carry the token of its page"),
				Hint: "load the page again: its form is out of date, or the browser sends no cookies",
			}}
		}
		return f(c)
	}
}
