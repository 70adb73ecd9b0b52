package dashboard

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"precis"
	"precis/internal/visible"
)

// SettingsValues is what [SettingsFile] can be, too: settings whose file has further
// values that can be changed on the page, such as the model that writes summaries.
type SettingsValues interface {
	SettingsFile
	// Values returns those of a profile, in the order of the page; nil: there are none.
	Values(profile string) []SettingsValue
	// SetValues writes values to the file of a profile and puts the file in force; an
	// empty value takes the key out. Nil: the caller may not.
	SetValues(r *http.Request) func(ctx context.Context, profile string, values map[string]string) error
	// Owners returns who has a key, for a caller who may know; nil: no keys are asked
	// for.
	Owners(r *http.Request) []Owner
}

// SettingsValue is a value of a configuration file.
type SettingsValue struct {
	Key     string
	Value   string
	Help    string   // one sentence
	From    string   // where it comes from: a file, the preset, a default
	Choices []string // all that it can be; nil: any text
	Reset   bool     // it can be taken out, and be given no other value here
	Long    int      // over 0: it is a text of several lines, of at most so many bytes
	Builtin string   // of a long text, the one that counts while there is none
}

// Text returns what stands in the field of a value: a long text that is not set begins
// as the built-in one.
func (v SettingsValue) Text() string {
	if v.Long > 0 && v.Value == "" {
		return v.Builtin
	}
	return v.Value
}

// read returns the value that the field of a form stands for. What the page showed, with
// characters that cannot be seen written out, is the value as it was; the built-in text is
// not a text of one's own.
func (v SettingsValue) read(field string) string {
	if field == visible.Text(v.Value) {
		return v.Value
	}
	if v.Long == 0 {
		return field
	}
	text := trimmed(strings.ReplaceAll(field, "\r\n", "\n")) // as browsers send the ends of lines
	switch text {
	case trimmed(v.Builtin), "":
		return ""
	case trimmed(visible.Text(v.Value)):
		return v.Value
	}
	return text
}

// trimmed returns a text without the white space at its end.
func trimmed(s string) string { return strings.TrimRight(s, " \t\n") }

// Owner is somebody who has a key of the gateway.
type Owner struct {
	Name  string
	Admin bool
}

// valuesPart is what the page of settings shows of further values.
type valuesPart struct {
	Values []SettingsValue
	Owners []Owner
}

// values reads what the page shows; nil where there is nothing, or the caller may not
// change it.
func (c *call) values(profile string) *valuesPart {
	v, ok := c.o.Settings.(SettingsValues)
	if !ok || v.SetValues(c.r) == nil {
		return nil
	}
	return &valuesPart{Values: v.Values(profile), Owners: v.Owners(c.r)}
}

// setValues writes the values of a form that differ from those in force.
func (c *call) setValues() error {
	v, ok := c.o.Settings.(SettingsValues)
	var set func(context.Context, string, map[string]string) error
	if ok {
		set = v.SetValues(c.r)
	}
	if set == nil {
		return refusal{http.StatusForbidden, precis.Errorf(precis.CodeInvalid, "change settings", "this needs an admin's key")}
	}
	f := c.r.PostForm
	profile := f.Get("profile")
	changed := map[string]string{}
	for _, is := range v.Values(profile) {
		text, sent := f[is.Key]
		if f.Get("reset") == is.Key {
			text, sent = []string{""}, true
		}
		if !sent || len(text) != 1 || is.read(text[0]) == is.Value {
			continue
		}
		changed[is.Key] = is.read(text[0])
	}
	if len(changed) > 0 {
		if err := set(c.ctx(), profile, changed); err != nil {
			return err
		}
	}
	http.Redirect(c.w, c.r, c.path("settings", "?"+url.Values{"did": {"file"}, "profile": {profile}}.Encode()), http.StatusSeeOther)
	return nil
}
