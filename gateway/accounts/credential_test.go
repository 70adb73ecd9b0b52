package accounts

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/precis-dev/precis/gateway/upstream"
	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/store/memory"
)

func secret(key string) keyed {
	return func(text string) []byte {
		m := hmac.New(sha256.New, []byte(key))
		m.Write([]byte(text))
		return m.Sum(nil)
	}
}

// requestOf returns a request with headers by name, a line each.
func requestOf(headers, query string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/v1/messages", nil)
	r.URL.RawQuery = query
	for line := range strings.Lines(headers) {
		if name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ": "); ok {
			r.Header.Add(name, value)
		}
	}
	return r
}

func token(issuer, subject string) string {
	claims := fmt.Sprintf(`{"iss":%q,"sub":%q}`, issuer, subject)
	return "e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".sig"
}

// names returns all names that a credential may have: its own, its account's at two
// upstreams, and those of before.
func names(a keyed, c credential) map[string]string {
	out := map[string]string{"token": a.name(c.parts()), "former token": c.formerName(a)}
	if c.claims.subject != "" {
		out["account"], out["account elsewhere"] = a.name(c.account("main")), a.name(c.account("other"))
		out["former account"] = c.formerAccount(a)
	}
	return out
}

// clash returns two names of different credentials that are equal; the account of a
// token is the same for every token that names it.
func clash(a keyed, one, two credential) string {
	for kind, name := range names(a, one) {
		for other, same := range names(a, two) {
			if name == "" || name != same {
				continue
			}
			account := kind == other && strings.Contains(kind, "account") && reflect.DeepEqual(one.of, two.of) &&
				one.claims.issuer == two.claims.issuer && one.claims.subject == two.claims.subject
			if !account && !(kind == other && reflect.DeepEqual(one.parts(), two.parts())) {
				return kind + " = " + other
			}
		}
	}
	return ""
}

// FuzzOwners: no two different credentials share a name.
func FuzzOwners(f *testing.F) {
	victim := "Authorization: Bearer " + token("https://auth.example", "auth0|victim")
	for _, pair := range [][2]string{
		{victim, "Authorization: subject https://auth.example auth0|victim"},
		{victim, "Authorization: subject https://auth.example\nX-Api-Key: auth0|victim"},
		{victim, "Authorization: subject\nX-Api-Key: https://auth.example\nApi-Key: auth0|victim"},
		{"Chatgpt-Account-Id: a\n" + victim, "Authorization: Chatgpt-Account-Id a subject https://auth.example auth0|victim"},
		{"Chatgpt-Account-Id: a\n" + victim, "Chatgpt-Account-Id: a subject\nAuthorization: https://auth.example auth0|victim"},
		{"Chatgpt-Account-Id: a\nAuthorization: b", "Chatgpt-Account-Id: a b\nAuthorization: c"},
		{"Openai-Organization: a\nAuthorization: k", "Authorization: Openai-Organization a k"},
		{"Openai-Organization: a\nOpenai-Organization: b\nAuthorization: k", "Openai-Organization: a, b\nAuthorization: k"},
		{"Openai-Organization: a Openai-Project b\nAuthorization: k", "Openai-Organization: a\nOpenai-Project: b\nAuthorization: k"},
		{"Authorization: a b", "Authorization: a\nX-Api-Key: b"},
		{"Authorization: Bearer " + token("a b", "c"), "Authorization: Bearer " + token("a", "b c")},
		{"Authorization: Bearer " + token("", "x y"), "Authorization: Bearer " + token("x", "y")},
	} {
		f.Add(pair[0], "", pair[1], "")
	}
	f.Add(victim, "", "", "key=subject+https://auth.example+auth0|victim")
	auth := secret("secret of the gateway")
	f.Fuzz(func(t *testing.T, one, oneQuery, two, twoQuery string) {
		a, b := credentialOf(requestOf(one, oneQuery)), credentialOf(requestOf(two, twoQuery))
		if reflect.DeepEqual(a.of, b.of) && reflect.DeepEqual(a.tokens, b.tokens) {
			return
		}
		if why := clash(auth, a, b); why != "" {
			t.Errorf("%s\n%q ?%s\n%q ?%s", why, one, oneQuery, two, twoQuery)
		}
	})
}

// oldName is how owners were named before.
func oldName(a keyed, text string) string { return fmt.Sprintf("p%x", a(text)[:10]) }

// What was stored under a former name is found by its own credential, and by no other.
func TestFormerNames(t *testing.T) {
	t.Parallel()
	auth := secret("s")
	iss, sub := "https://auth.example", "auth0|alice"
	for name, c := range map[string]struct {
		headers, text string
		mine          bool
	}{
		"a key":                  {"X-Api-Key: sk-ant-1", "sk-ant-1", true},
		"a key of a group":       {"Openai-Organization: o\nAuthorization: Bearer sk-1", "Openai-Organization o sk-1", true},
		"two keys":               {"Authorization: Bearer a\nX-Api-Key: b", "a b", true},
		"a text with spaces":     {"Authorization: subject " + iss + " " + sub, "subject " + iss + " " + sub, false},
		"split over two headers": {"Authorization: subject\nX-Api-Key: " + iss + "\nApi-Key: " + sub, "subject " + iss + " " + sub, false},
		"in the group":           {"Openai-Organization: o subject\nAuthorization: " + iss, "Openai-Organization o subject " + iss, false},
	} {
		t.Run(name, func(t *testing.T) {
			st := memory.New()
			a := New(Options{MAC: auth, Store: st, Now: time.Now})
			old := oldName(auth, c.text)
			if err := st.Scope(old).(store.Lister).PutConversation(t.Context(), store.Record{ID: "c1", Updated: time.Now()}); err != nil {
				t.Fatal(err)
			}
			got, err := a.Owner(requestOf(c.headers, ""), nil, "")
			if err != nil || got == "" || (got == old) != c.mine {
				t.Errorf("%s (%v), the former name is %s", got, err, old)
			}
			fresh := New(Options{MAC: auth, Store: memory.New(), Now: time.Now})
			if got, _ := fresh.Owner(requestOf(c.headers, ""), nil, ""); got == old || got == "" {
				t.Errorf("with nothing stored it is %q", got)
			}
		})
	}
	c := credentialOf(requestOf("Authorization: Bearer "+token(iss, sub), ""))
	if got, want := c.formerAccount(auth), oldName(auth, "subject "+iss+" "+sub); got != want {
		t.Errorf("the account's former name is %s, want %s", got, want)
	}
}

func TestAnExpiredTokenNamesNoAccount(t *testing.T) {
	t.Parallel()
	claims := base64.RawURLEncoding.EncodeToString([]byte(`{"iss":"x","sub":"alice","exp":1000}`))
	r := requestOf("Authorization: Bearer e30."+claims+".sig", "")
	c := credentialOf(r)
	up := &upstream.API{Name: "up", URL: r.URL}
	a := New(Options{MAC: secret(""), Now: func() time.Time { return time.Unix(999, 0) }, Upstreams: []upstream.API{*up}})
	a.known[a.key("accepted", c, up)] = &tokenState{accepted: true}
	if a.accepting(r, c, up, "") == nil {
		t.Error("before it expires it names none")
	}
	a.o.Now = func() time.Time { return time.Unix(1000, 0) }
	if a.accepting(r, c, up, "") != nil {
		t.Error("it names an account when it has expired")
	}
}
