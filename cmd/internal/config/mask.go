package config

import (
	"net/url"
	"strings"
)

// Hidden replaces a value that is not shown.
const Hidden = "…"

// firstLine returns the first line of a text, marked if there are more.
func firstLine(s string) string {
	line, more, _ := strings.Cut(strings.TrimSpace(s), "\n")
	if more != "" {
		line += " " + Hidden
	}
	return line
}

// Brief returns the row with the first line of its value, for tables.
func (r Row) Brief() Row {
	r.Value = firstLine(r.Value)
	return r
}

// Masked returns the row without possible secrets in its value: passwords and parameters of URLs,
// paths of webhooks, arguments of commands.
func (r Row) Masked() Row {
	switch {
	case r.Key == "summarizer.prompt": // a text for models, shown in full
	case strings.HasPrefix(r.Key, "hooks."), r.Key == "gateway.webhook":
		r.Value = maskHook(r.Value)
	case r.list:
		items := strings.Split(r.Value, ",")
		for i, item := range items {
			if name, u, ok := strings.Cut(item, "="); ok {
				items[i] = name + "=" + MaskURL(u)
			}
		}
		r.Value = strings.Join(items, ",")
	default:
		r.Value = MaskURL(r.Value)
	}
	return r
}

// maskHook keeps only the host of a URL, because the path is often the secret, and only the program
// of a command line.
func maskHook(s string) string {
	if u, err := url.Parse(s); err == nil && u.Host != "" {
		bare := url.URL{Scheme: u.Scheme, Host: u.Host}
		if u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.User != nil {
			return bare.String() + "/" + Hidden
		}
		return bare.String()
	}
	words := strings.Fields(s)
	switch {
	case len(words) == 0:
		return s
	case strings.ContainsAny(words[0], "=:'\"$`"): // a variable, or quoted: not the program's name
		return Hidden
	case len(words) == 1:
		return s
	}
	return words[0] + " " + Hidden
}

// plainParameters are the parameters of database URLs that are not secret.
var plainParameters = map[string]bool{"sslmode": true, "connect_timeout": true, "application_name": true,
	"search_path": true, "pool_max_conns": true}

// MaskURL returns a URL without passwords, and without the values of possibly secret parameters. A
// text that is no URL stays unchanged.
func MaskURL(s string) string {
	if !strings.Contains(s, "://") {
		return s
	}
	u, err := url.Parse(s)
	if err != nil {
		return Hidden // it may still have a password
	}
	if _, has := u.User.Password(); has {
		u.User = url.UserPassword(u.User.Username(), Hidden)
	} else if u.User != nil { // a token in place of the name
		u.User = url.User(Hidden)
	}
	q := u.Query()
	for name, values := range q {
		for i := range values {
			if !plainParameters[name] {
				values[i] = Hidden
			}
		}
	}
	if u.RawQuery != "" {
		u.RawQuery = q.Encode()
	}
	out := strings.ReplaceAll(u.String(), url.QueryEscape(Hidden), Hidden)
	if strings.HasSuffix(s, "#") { // a bare upstream
		out += "#"
	}
	return out
}
