package accounts

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

// part is one component of a name. Its kind identifies the value, so that equal texts of different
// kinds make different names.
type part struct{ kind, value string }

// encode returns an injective encoding of the parts: each text follows its length in bytes.
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

// identityHeaders hold credentials and the accounts they are used for.
var identityHeaders = []string{"Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key",
	"Chatgpt-Account-Id", "Openai-Organization", "Openai-Project"}

// Headers hold keys and who they belong to.
var Headers = []string{
	"Authorization", "X-Api-Key", "Api-Key", "Openai-Organization", "Openai-Project", "Chatgpt-Account-Id",
	"Anthropic-Version", "X-Goog-Api-Key",
}

// credential identifies the sender of a request to its upstream.
type credential struct {
	of     []part   // accounts and organizations it is used for, by header
	tokens []string // without repetition
	claims claims   // of the JSON web token, if it is the only token; else zero
}

// claims are the statements of a JSON web token. Only the upstream verifies them; here they only
// provide a name.
type claims struct {
	issuer, subject string
	expires         time.Time // zero: not stated
	signed          bool      // it states an algorithm and has a signature
}

func credentialOf(r *http.Request) credential {
	var c credential
	add := func(tokens ...string) {
		for _, t := range tokens {
			if t = strings.TrimSpace(strings.TrimPrefix(t, "Bearer ")); t != "" &&
				!slices.Contains(c.tokens, t) {
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
	out := claims{issuer: body.Iss, subject: body.Sub,
		signed: parts[2] != "" && !strings.EqualFold(head.Alg, "none")}
	if body.Exp > 0 && body.Exp < 1e11 {
		out.expires = time.Unix(int64(body.Exp), 0)
	}
	return out
}

func readPart(text string, to any) bool {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	return err == nil && json.Unmarshal(raw, to) == nil
}

// parts returns all parts of the credential; none without a token, because only a token proves an
// account.
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

// account returns the parts that name the token's account at an upstream.
func (c credential) account(realm string) []part {
	return append(slices.Clone(c.of), part{"upstream", realm}, part{"issuer", c.claims.issuer},
		part{"subject", c.claims.subject})
}

// keyed returns a hash of a text, keyed with the secret of a gateway.
type keyed func(text string) []byte

// name returns the name of an owner; "" for no parts.
func (a keyed) name(parts []part) string {
	if len(parts) == 0 {
		return ""
	}
	return "p" + hex.EncodeToString(a(encode(append([]part{{"use", "owner"}}, parts...)...))[:10])
}

// Earlier versions hashed names from one text without marks between its parts. Data stored under
// such a name is found by the credential it was made from, unless a different credential could have
// produced the same text without knowing the secrets in it.

// formerName returns the credential's name in that scheme; "" when it could belong to somebody
// else.
func (c credential) formerName(a keyed) string {
	if len(c.tokens) == 0 || slices.Contains(c.tokens, "subject") {
		return ""
	}
	return a.former(c.formerOf, strings.Join(c.tokens, " "), append(c.values(), c.tokens...))
}

// formerAccount returns the name of the token's account in that scheme.
func (c credential) formerAccount(a keyed) string {
	texts := append(c.values(), c.claims.subject)
	if c.claims.issuer != "" {
		texts = append(texts, c.claims.issuer)
	}
	return a.former(c.formerOf, "subject "+c.claims.issuer+" "+c.claims.subject, texts)
}

func (a keyed) former(of func() string, rest string, texts []string) string {
	for _, t := range texts {
		if t == "" || strings.ContainsFunc(t, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return "" // a text with spaces is ambiguous
		}
	}
	return "p" + hex.EncodeToString(a(of() + rest)[:10])
}

func (c credential) formerOf() string {
	var out strings.Builder
	for i, p := range c.of {
		if i > 0 && c.of[i-1].kind == p.kind {
			return "\x00" // several values of one header were joined; no known client sends them
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
