// Package dashboard serves web pages for people to see how the windows of their conversations are
// filled, and to act on it. Start with [New]; serve the handler at [Options.Base].
//
// Pages are rendered on the server and work without their script. They only call verbs of the
// package conversation, so they can show everything that a [conversation.Home] holds: the
// conversations of a gateway, of a store, or of one recording. Conversations are hostile text:
// everything is escaped, invisible characters are made visible, and the Content-Security-Policy
// allows only the stylesheet and the script of the dashboard itself.
package dashboard

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/internal/texts"
)

// ErrLogin is returned by [Options.Home] for a caller who has to log in first.
var ErrLogin = errors.New("log in first")

// Options are the parts of a dashboard. Home is required; zero values of the other fields are
// working defaults.
type Options struct {
	// Home returns the conversations that a request may see and change. The error [ErrLogin] leads
	// to the login page; any other one is shown with status 403.
	Home func(*http.Request) (conversation.Home, error)
	// Edits lets callers change conversations. False: everything is read-only.
	Edits bool
	// Admits reports whether a caller is one of those that Edits lets change conversations; nil:
	// everybody is.
	Admits func(*http.Request) bool
	// Base is the path of the first page, with a slash at both ends; "": /precis/.
	Base string
	// Source is the location of the conversations, shown on each page: a file, an address.
	Source string
	// Fill is the command that adds the first conversation, shown for an empty list; "": none.
	Fill string
	// Hosts are additional host names of the dashboard, without ports. Localhost and IP addresses
	// are always accepted.
	Hosts []string
	// Profiles returns the names of the profiles for previews and comparisons, except the default
	// one. Nil: none.
	Profiles func() []string
	// Events receives and publishes changes. Nil: pages only learn of changes made through the
	// dashboard.
	Events Events
	// Settings are the settings in force; nil: there is no settings page.
	Settings Settings
	// Login checks a key and sets the cookie that identifies the caller to Home. The error is
	// shown. Nil: there is no login page.
	Login func(w http.ResponseWriter, r *http.Request, key string) error
	// Logout removes that cookie. It may be nil only if Login is.
	Logout func(w http.ResponseWriter, r *http.Request)
	Logger *slog.Logger     // nil: silent; content is never logged
	Now    func() time.Time // nil: time.Now
}

// dash is the handler.
type dash struct {
	o         Options
	mux       *http.ServeMux
	texts     texts.Catalog
	sentences map[string]*texts.Sentences // by language
	files     files
	render    renderer
	losses    losses
	drafts    conversation.Drafts
}

// New returns a dashboard. It is safe for concurrent use. The error is a
// [precis.Error] that names the option at fault.
func New(o Options) (http.Handler, error) {
	const op = "make dashboard"
	if o.Home == nil {
		return nil, precis.Errorf(precis.CodeInvalid, op, "Options.Home is nil")
	}
	if o.Base == "" {
		o.Base = "/precis/"
	}
	if !strings.HasPrefix(o.Base, "/") || !strings.HasSuffix(o.Base, "/") {
		return nil, precis.Errorf(precis.CodeInvalid, op, "Options.Base is %q, want a slash at both ends",
			o.Base)
	}
	if (o.Login == nil) != (o.Logout == nil) {
		return nil, precis.Errorf(precis.CodeInvalid, op, "Options.Login and Options.Logout belong together")
	}
	if o.Events == nil {
		o.Events = newOwnEvents()
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	d := &dash{o: o, mux: http.NewServeMux(), drafts: conversation.Drafts{Now: o.Now}}
	var err error
	if d.sentences, err = texts.ReadEverySentence(); err != nil {
		return nil, err
	}
	if d.texts, err = texts.Read(); err != nil {
		return nil, err
	}
	if d.files, err = readFiles(); err != nil {
		return nil, err
	}
	d.render = renderer{d: d}
	d.routes()
	return d, nil
}

// routes registers the pages.
func (d *dash) routes() {
	get := func(path string, f func(*call) error) { d.mux.Handle("GET "+d.o.Base+path, d.page(f)) }
	post := func(path string, f func(*call) error) { d.mux.Handle("POST "+d.o.Base+path, d.form(f)) }
	get("{$}", (*call).overview)
	get("search", (*call).search)
	get("jump", (*call).jump)
	get("live", (*call).streamNotices)
	get("costs", (*call).costs)
	get("experiments", (*call).experiments)
	const one = "c/{id}"
	get(one, (*call).view)
	get(one+"/time", (*call).time)
	get(one+"/edits", (*call).edits)
	get(one+"/loss", (*call).loss)
	get(one+"/work", (*call).work)
	get(one+"/verify", (*call).verify)
	get(one+"/family", (*call).family)
	get(one+"/row", (*call).row)
	get(one+"/head", (*call).headPart)
	get(one+"/m/{handle}", (*call).originals)
	get(one+"/shown/{handle}", (*call).shown)
	if d.o.Profiles != nil {
		get(one+"/compare", (*call).compare)
	}
	get(one+"/condense", (*call).condenseForm)
	get(one+"/do/{verb}", (*call).showEffect)
	post(one+"/condense", (*call).condense)
	post(one+"/verify", (*call).verifySummary)
	post(one+"/draft", (*call).makeDraft)
	get(one+"/draft/{draft}", (*call).draft)
	post(one+"/draft/{draft}", (*call).applyDraft)
	post(one+"/do/{verb}", (*call).do)
	post(one+"/hold", (*call).holdNext)
	post(one+"/let-go", (*call).sendHeld)
	if d.o.Settings != nil {
		get("settings", (*call).settings)
		post("settings", (*call).patchSettings)
		post("settings/values", (*call).setValues)
		post("settings/experiment", (*call).setExperiment)
	}
	d.mux.HandleFunc("GET "+d.o.Base+"assets/{file}", d.files.serve)
	d.mux.Handle("POST "+d.o.Base+"prefs", d.open(d.guarded(smallForm, (*call).setPrefs)))
	if d.o.Login != nil {
		d.mux.Handle("GET "+d.o.Base+"login", d.open((*call).loginForm))
		d.mux.Handle("POST "+d.o.Base+"login", d.open(d.guarded(smallForm, (*call).login)))
		d.mux.Handle("POST "+d.o.Base+"logout", d.open(d.guarded(smallForm, (*call).logout)))
	}
	d.mux.Handle(d.o.Base, d.open((*call).nowhere))
}
