package dashboard

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/visible"
)

// SettingsValues is an optional interface of [SettingsFile] with further values of the file that
// can be changed on the page, such as the model that writes summaries.
type SettingsValues interface {
	SettingsFile
	// Values returns the values of a profile, in the order of the page; nil: none.
	Values(profile string) []SettingsValue
	// SetValues returns a function that writes values to the file of a profile and puts the file in
	// force; an empty value removes the key. Nil: the caller is not allowed to.
	SetValues(r *http.Request) func(ctx context.Context, profile string, values map[string]string) error
	// Owners returns the owners of keys, for a caller who may see them; nil: no keys are required.
	Owners(r *http.Request) []Owner
}

// SettingsValue is a value of a configuration file.
type SettingsValue struct {
	Key     string
	Value   string
	Help    string   // one sentence
	From    string   // its origin: a file, the preset, a default
	Choices []string // all allowed values; nil: any text
	Reset   bool     // it can only be removed here
	Long    int      // above 0: a text of several lines, of at most this many bytes
	Builtin string   // default of a long text
}

// Text returns the content of the field of a value: a long text that is not set starts as the
// built-in one.
func (v SettingsValue) Text() string {
	if v.Long > 0 && v.Value == "" {
		return v.Builtin
	}
	return v.Value
}

// read returns the value for the content of a form field. Unchanged content, displayed with
// invisible characters made visible, gives the old value; the built-in text gives "".
func (v SettingsValue) read(field string) string {
	if field == visible.Text(v.Value) {
		return v.Value
	}
	if v.Long == 0 {
		return field
	}
	text := trimmed(strings.ReplaceAll(field, "\r\n", "\n")) // browsers send CRLF
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

// Owner is the holder of a gateway key.
type Owner struct {
	Name  string
	Admin bool
}

// valuesPart is the part of the settings page with further values.
type valuesPart struct {
	Values []SettingsValue
	Owners []Owner
}

// values returns the values for the page; nil without values, or if the caller may not change them.
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
		return refusal{http.StatusForbidden,
			precis.Errorf(precis.CodeInvalid, "change settings", "this needs an admin's key")}
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
	http.Redirect(c.w, c.r, c.path("settings",
		"?"+url.Values{"did": {"file"}, "profile": {profile}}.Encode()), http.StatusSeeOther)
	return nil
}
