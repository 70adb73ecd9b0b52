package dashboard

import (
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"net/http"
	"time"

	"github.com/precis-dev/precis"
)

const (
	tokenCookie = "precis_form"
	smallForm   = 64 << 10 // bytes of a form that anyone may send
	mostForm    = 4 << 20  // bytes of a form from a known caller, which may contain an edited digest
)

// formToken returns the token that forms must send back: the value of a cookie that pages of other
// sites can neither read nor set. A reader without one gets one.
func (c *call) formToken() string {
	if k, err := c.r.Cookie(tokenCookie); err == nil && len(k.Value) == len(rand.Text()) {
		return k.Value
	}
	token := rand.Text()
	c.setCookie(tokenCookie, token, 0)
	return token
}

// setCookie sets a cookie for the pages of the dashboard; age 0 means until the browser is closed.
func (c *call) setCookie(name, value string, age time.Duration) {
	http.SetCookie(c.w, &http.Cookie{
		Name: name, Value: value, Path: c.o.Base, MaxAge: int(age.Seconds()), HttpOnly: true,
		Secure: c.r.TLS != nil, SameSite: http.SameSiteStrictMode,
	})
}

// guarded refuses a form that another site may have sent, judging by browser headers and the page's
// token. It reads at most most bytes.
func (d *dash) guarded(most int64, f func(*call) error) func(*call) error {
	cross := http.NewCrossOriginProtection()
	return func(c *call) error {
		const op = "read form"
		if err := cross.Check(c.r); err != nil {
			return refusal{http.StatusForbidden,
				precis.Errorf(precis.CodeInvalid, op, "a page of another site asks")}
		}
		c.r.Body = http.MaxBytesReader(c.w, c.r.Body, most)
		if err := c.r.ParseForm(); err != nil {
			return precis.Errorf(precis.CodeInvalid, op, "the form cannot be read")
		}
		k, err := c.r.Cookie(tokenCookie)
		if err != nil || len(k.Value) != len(rand.Text()) ||
			subtle.ConstantTimeCompare([]byte(k.Value), []byte(c.r.PostForm.Get("token"))) != 1 {
			return refusal{http.StatusForbidden, &precis.Error{
				Code: precis.CodeInvalid, Op: op,
				Err:  errors.New("the form does not carry the token of its page"),
				Hint: "load the page again: its form is out of date, or the browser sends no cookies",
			}}
		}
		return f(c)
	}
}
