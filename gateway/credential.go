package gateway

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"
)

// part is one thing that a name is made of. Its kind says what the value is, so that
// equal texts of different kinds make different names.
type part struct{ kind, value string }

// encode returns parts in a form that no other parts have: each text follows its
// length in bytes.
func encode(parts ...part) string {
	var out []byte
	for _, p := range parts {
		for _, text := range []string{p.kind, p.value} {
			out = binary.AppendUvarint(out, uint64(len(text)))
			out = append(out, text...)
		}
	}
	return string(out)
}

// identityHeaders are credentials and the accounts they are used for.
var identityHeaders = []string{"Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key", "Chatgpt-Account-Id", "Openai-Organization", "Openai-Project"}

// credential is what a request proves itself with.
type credential struct {
	of     []part   // the accounts and organizations it is used for, by header
	tokens []string // without repetition
	claims claims   // of the JSON web token that is the only token; zero: there is none
}

// claims are what a JSON web token says. The upstream checks it; here it only names.
type claims struct {
	issuer, subject string
	expires         time.Time // zero: not said
	signed          bool      // it names a method and has a signature
}

func credentialOf(r *http.Request) credential {
	var c credential
	add := func(tokens ...string) {
		for _, t := range tokens {
			if t = strings.TrimSpace(strings.TrimPrefix(t, "Bearer ")); t != "" && !slices.Contains(c.tokens, t) {
				c.tokens = append(c.tokens, t)
			}
		}
	}
	for _, name := range identityHeaders {
		switch values := r.Header.Values(name); name {
		case "Chatgpt-Account-Id", "Openai-Organization", "Openai-Project":
			for _, v := range values {
				c.of = append(c.of, part{name, v})
			}
		default:
			add(values...)
		}
	}
	if strings.Contains(r.URL.RawQuery, "key=") {
		add(r.URL.Query()["key"]...)
	}
	if len(c.tokens) == 1 {
		c.claims = claimsOf(c.tokens[0])
	}
	return c
}

// claimsOf reads a JSON web token; zero for any other credential.
func claimsOf(token string) claims {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return claims{}
	}
	var body struct {
		Iss, Sub string
		Exp      float64
	}
	var head struct{ Alg string }
	if !readPart(parts[1], &body) || body.Sub == "" {
		return claims{}
	}
	readPart(parts[0], &head)
	out := claims{issuer: body.Iss, subject: body.Sub, signed: parts[2] != "" && !strings.EqualFold(head.Alg, "none")}
	if body.Exp > 0 && body.Exp < 1e11 {
		out.expires = time.Unix(int64(body.Exp), 0)
	}
	return out
}

func readPart(text string, to any) bool {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	return err == nil && json.Unmarshal(raw, to) == nil
}

// parts returns all of the credential; none without a token: an account is what a
// token proves.
func (c credential) parts() []part {
	if len(c.tokens) == 0 {
		return nil
	}
	out := slices.Clone(c.of)
	for _, t := range c.tokens {
		out = append(out, part{"token", t})
	}
	return out
}

// account returns what names the account that the token says, at an upstream.
func (c credential) account(realm string) []part {
	return append(slices.Clone(c.of), part{"upstream", realm}, part{"issuer", c.claims.issuer}, part{"subject", c.claims.subject})
}

// name returns the name of an owner; "" of no parts.
func (a Auth) name(parts []part) string {
	if len(parts) == 0 {
		return ""
	}
	return "p" + hex.EncodeToString(a.mac(encode(append([]part{{"use", "owner"}}, parts...)...))[:10])
}

// Before names were made of parts they were made of one text, in which nothing said
// where one thing ends and the next begins. What is stored under such a name is found
// by the credential it was made of, unless another credential could have made the same
// text without knowing the secrets in it.

// formerName returns the name that the credential had then; "" when that could be
// somebody else's.
func (c credential) formerName(a Auth) string {
	if len(c.tokens) == 0 || slices.Contains(c.tokens, "subject") {
		return ""
	}
	return a.former(c.formerOf, strings.Join(c.tokens, " "), append(c.values(), c.tokens...))
}

// formerAccount returns the name that the account of the token had then.
func (c credential) formerAccount(a Auth) string {
	texts := append(c.values(), c.claims.subject)
	if c.claims.issuer != "" {
		texts = append(texts, c.claims.issuer)
	}
	return a.former(c.formerOf, "subject "+c.claims.issuer+" "+c.claims.subject, texts)
}

func (a Auth) former(of func() string, rest string, texts []string) string {
	for _, t := range texts {
		if t == "" || strings.ContainsFunc(t, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return "" // a text with spaces in it could be several
		}
	}
	return "p" + hex.EncodeToString(a.mac(of() + rest)[:10])
}

func (c credential) formerOf() string {
	var out strings.Builder
	for i, p := range c.of {
		if i > 0 && c.of[i-1].kind == p.kind {
			return "\x00" // several values of one header were joined; nobody sends them
		}
		out.WriteString(p.kind + " " + p.value + " ")
	}
	return out.String()
}

func (c credential) values() []string {
	var out []string
	for _, p := range c.of {
		out = append(out, p.value)
	}
	return out
}
