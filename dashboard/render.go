package dashboard

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/internal/texts"
	"github.com/precis-dev/precis/internal/visible"
)

//go:embed pages/*.html
var pageFiles embed.FS

// page is the frame of every page; Data is for the page itself.
type page struct {
	Title string
	Tab   string // of the navigation
	Data  any

	Prefs    prefs
	Token    string
	Path     string // of this page, for returning to it
	Source   string
	Edits    bool
	ReadOnly string // why the page is read-only; "": it is not
	Settings bool
	Compare  bool
	Costs    bool
	Live     bool // the script listens for changes
	Logout   bool
	Query    string // in the search field
}

// renderer renders pages. It parses the templates of a language, and of masked pages, on first use.
type renderer struct {
	d    *dash
	mu   sync.Mutex
	sets map[setKey]*template.Template // by language, mask and page
}

type setKey struct {
	lang string
	mask bool
	page string
}

// set returns the templates of a page.
func (r *renderer) set(key setKey) (*template.Template, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t := r.sets[key]; t != nil {
		return t, nil
	}
	t, err := template.New(key.page).Funcs(r.funcs(key)).ParseFS(pageFiles, "pages/frame.html",
		"pages/shared.html", path.Join("pages", key.page+".html"))
	if err != nil {
		return nil, precis.Errorf(precis.CodeInternal, "read page "+key.page, "%w", err)
	}
	if key.mask {
		maskTemplates(t)
	}
	if r.sets == nil {
		r.sets = map[setKey]*template.Template{}
	}
	r.sets[key] = t
	return t, nil
}

// funcs are the functions of templates in one language.
func (r *renderer) funcs(key setKey) template.FuncMap {
	t := func(name string, args ...any) string { return r.d.texts.Text(key.lang, name, args...) }
	said := func(s string) string { return s }
	if key.mask {
		said = masked
	}
	return template.FuncMap{
		"t": t, "said": said, "url": r.address,
		"asset": func(name string) string { return r.d.path("assets", r.d.files.names[name]) },
		"num":   func(n any) string { return numeral(key.lang, n) },
		"usd":   func(usd float64) string { return texts.Dollars(key.lang, usd) },
		"pct":   func(p float64) string { return texts.Percent(key.lang, p) },
		"short": func(n int) string { return texts.Short(key.lang, n) },
		"full":  func(l conversation.ListItem) string { return formatFill(key.lang, l) },
		"lang":  func() string { return key.lang }, "languages": texts.Languages,
		"ago":  func(at time.Time) string { return formatAge(t, at, r.d.o.Now()) },
		"abs":  func(at time.Time) string { return at.UTC().Format("2006-01-02 15:04:05 UTC") },
		"iso":  func(at time.Time) string { return at.UTC().Format(time.RFC3339) },
		"kind": func(kind any) string { return t("kind." + strings.ReplaceAll(fmt.Sprint(kind), " ", "_")) },
		"css":  func(kind any) string { return "k-" + strings.ReplaceAll(fmt.Sprint(kind), " ", "-") },
		"dict": dict, "q": query, "took": formatDuration, "worth": func(w float64) float64 { return 100 * w },
		"sub": func(a, b int) int { return a - b }, "sum": func(a, b int) int { return a + b },
		"share": func(n, of int) string {
			return texts.Percent(key.lang,
				precis.Window{Tokens: of}.Percent(n))
		},
		"percent": func(n, of int) string {
			return fmt.Sprintf("%.0f%%",
				precis.Window{Tokens: of}.Percent(n))
		},
		"reason": func(s precis.RungResult) string {
			return r.d.texts.Reason(key.lang, r.d.sentences[key.lang],
				s)
		},
		"written": func(english any) string {
			text, _ := r.d.sentences[key.lang].Translate(fmt.Sprint(english))
			return text
		},
		"failure": func(name string) string { return r.d.texts.Failure(key.lang, name) },
		"own":     func(v any) any { return v },
		veiler:    maskText,
		"brief":   func(s string) string { return said(brief(s, 160)) },
	}
}

// numeral writes a number that may be unknown, nil.
func numeral(lang string, n any) string {
	switch n := n.(type) {
	case *int:
		return texts.Known(lang, n)
	case int:
		return texts.Number(lang, n)
	}
	return texts.Unknown
}

// formatFill writes how full the window of a listed conversation is.
func formatFill(lang string, l conversation.ListItem) string {
	if l.Window <= 0 || l.Tokens <= 0 && l.Messages > 0 {
		return texts.Unknown
	}
	return texts.Percent(lang, l.Percent)
}

// address is path for templates: segments may be handles and other types.
func (r *renderer) address(segments ...any) string {
	text := make([]string, len(segments))
	for i, s := range segments {
		text[i] = fmt.Sprint(s)
	}
	return r.d.path(text...)
}

// dict makes a map of names and values, for templates with several arguments.
func dict(pairs ...any) map[string]any {
	out := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		out[fmt.Sprint(pairs[i])] = pairs[i+1]
	}
	return out
}

// query makes the query of a URL from names and values.
func query(pairs ...any) string {
	v := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		v.Add(fmt.Sprint(pairs[i]), fmt.Sprint(pairs[i+1]))
	}
	return "?" + v.Encode()
}

// show answers with a page, or with its main part if the script requests that.
func (c *call) show(name string, p page) error {
	c.write(http.StatusOK, name, p)
	return nil
}

// write renders a page completely before sending it.
func (c *call) write(status int, name string, p page) {
	p.Prefs, p.Token, p.Path, p.Source = c.prefs, c.token, c.r.URL.RequestURI(), c.o.Source
	if c.r.Method != http.MethodGet {
		p.Path = c.o.Base
	}
	p.Edits, p.Settings, p.Compare, p.Logout = c.mayEdit(), c.o.Settings != nil, c.o.Profiles != nil, c.o.Logout != nil && c.home != nil
	if !p.Edits && c.home != nil {
		p.ReadOnly = c.readonly()
	}
	p.Costs, p.Live = c.books(), c.home != nil
	t, err := c.dash.render.set(setKey{c.prefs.Lang, c.prefs.Mask, name})
	var out bytes.Buffer
	if err == nil {
		main := "frame"
		if c.part() {
			main = "main"
		}
		err = t.ExecuteTemplate(&out, main, p)
	}
	if err != nil {
		c.o.Logger.ErrorContext(c.ctx(), "a page cannot be written", "page", name, "error", err)
		http.Error(c.w, "the page cannot be written", http.StatusInternalServerError)
		return
	}
	c.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	c.w.Header().Set("Content-Language", c.prefs.Lang)
	c.w.WriteHeader(status)
	_, _ = c.w.Write([]byte(visible.HTML(out.String()))) // fails only if the reader has gone
}
