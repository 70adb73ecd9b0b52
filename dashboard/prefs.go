package dashboard

import (
	"net/http"
	"net/url"
	"slices"
	"time"
)

// prefs are a reader's display preferences. They are kept in cookies.
type prefs struct {
	Lang  string
	Theme string // auto, light or dark
	Mask  bool   // content is masked, for sharing a screen
}

const (
	langCookie  = "precis_lang"
	themeCookie = "precis_theme"
	maskCookie  = "precis_mask"
	prefsAge    = 365 * 24 * time.Hour
)

var themes = []string{"auto", "light", "dark"}

// readPrefs reads the cookies of a reader; the language comes from the query, the cookie or the
// browser.
func (d *dash) readPrefs(r *http.Request) prefs {
	cookie := func(name string) string {
		if k, err := r.Cookie(name); err == nil {
			return k.Value
		}
		return ""
	}
	p := prefs{Theme: "auto", Mask: cookie(maskCookie) == "on"}
	if theme := cookie(themeCookie); slices.Contains(themes, theme) {
		p.Theme = theme
	}
	p.Lang = chosen(r.URL.Query().Get("lang"), cookie(langCookie), r.Header.Get("Accept-Language"))
	return p
}

// setPrefs stores the preferences that a form changes.
func (c *call) setPrefs() error {
	f := c.r.PostForm
	if theme := f.Get("theme"); slices.Contains(themes, theme) {
		c.setCookie(themeCookie, theme, prefsAge)
	}
	if lang := f.Get("lang"); c.texts[lang] != nil {
		c.setCookie(langCookie, lang, prefsAge)
	}
	if mask := f.Get("mask"); mask == "on" || mask == "off" {
		c.setCookie(maskCookie, mask, prefsAge)
	}
	back, err := url.Parse(c.inside(f.Get("back")))
	if err != nil {
		back = &url.URL{Path: c.o.Base}
	}
	q := back.Query()
	if f.Get("lang") != "" {
		q.Del("lang") // it would override the choice
	}
	back.RawQuery = q.Encode()
	http.Redirect(c.w, c.r, back.String(), http.StatusSeeOther)
	return nil
}
