package doctor

import (
	"context"
	"net/http"
	"strings"

	"github.com/precis-dev/precis/cmd/internal/running"
	"github.com/precis-dev/precis/cmd/internal/term"
	"github.com/precis-dev/precis/gateway/windows"
)

// windows reports the doubtful windows of models in the running gateway.
func (e *exam) windows(ctx context.Context) {
	if !isGateway(ctx, e.cfg.Gateway.Listen) {
		return // only a gateway knows windows
	}
	const check = "windows"
	gw, err := running.New(e.cfg.Gateway, "")
	if err != nil {
		e.add(check, Warn, "", "the gateway cannot be asked for them: %v", err)
		return
	}
	var list struct {
		Items []windows.Entry `json:"items"`
	}
	if err := gw.Do(ctx, http.MethodGet, "/windows", nil, &list); err != nil {
		e.add(check, OK, "precis windows --key-file FILE shows those of a key",
			"not looked at, the gateway does not say them: %v", err)
		return
	}
	e.doubtful(list.Items)
}

// doubtful adds a finding for each window that may be wrong.
func (e *exam) doubtful(items []windows.Entry) {
	const check = "windows"
	before := len(e.findings)
	for _, w := range items {
		name := "window of " + w.Model + " at " + w.Upstream
		for _, doubt := range w.Doubts {
			if why, hint := doubtOf(w, doubt); why != "" {
				e.add(name, Warn, hint, "%s tokens, %s", term.Number(w.Window.Tokens), why)
			}
		}
	}
	if len(e.findings) == before {
		e.ok(check, "%s known, none doubtful", term.Count(len(items), "window"))
	}
}

// doubtOf returns why a window may be wrong, and the remedy.
func doubtOf(w windows.Entry, doubt string) (why, hint string) {
	forget := "precis windows " + quoted(w.Model) + " --upstream " + quoted(w.Upstream) + " --forget"
	set := "set the window of " + w.Model + " in models_file, see precis config"
	lower := "set the window of " + w.Model + " in models_file to no more than that, see precis config"
	switch doubt {
	case "assumed":
		return "which is assumed: neither you, the server, the catalog nor an error states it", set
	case "unconfirmed":
		return "which follows from requests that were refused without a number; it is tried upward by itself",
			forget
	case "contradicted":
		if w.Configured {
			return "as you set it; " + evidenceOf(w), lower
		}
		return "but what is known does not agree: " + evidenceOf(w), forget
	case "old":
		return "which was not confirmed for a month", forget
	}
	return "", ""
}

// evidenceOf lists the evidence on a window.
func evidenceOf(w windows.Entry) string {
	var out []string
	for _, x := range []struct {
		what   string
		tokens int
	}{{"the server states", w.Server}, {"an error stated", w.Stated}, {"refused above", w.Refused},
		{"answered", w.Accepted}} {
		if x.tokens > 0 {
			out = append(out, x.what+" "+term.Number(x.tokens))
		}
	}
	return strings.Join(out, ", ")
}

// quoted returns a word quoted for a shell, because clients choose the names of models.
func quoted(s string) string {
	if s != "" && strings.Trim(s,
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/@") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
