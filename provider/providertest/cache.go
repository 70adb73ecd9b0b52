package providertest

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"

	"github.com/precis-dev/precis"
)

// tokens is how many tokens the given number of bytes have.
func tokens(bytes int) int { return bytes / 4 }

// segment is a part of a request that is cached or not as a whole: a tool, a
// block of the system prompt, a message.
type segment struct {
	raw    []byte
	marked bool // it carries cache_control
}

// cache holds the hashes of prefixes of earlier requests.
type cache map[prefix]bool

// use is what a request uses, in bytes.
type use struct{ total, read, write int }

// use returns how much of a request is in the cache, and how much goes into it; keys
// are its prefixes.
func (c cache) use(d dialect, parts []segment, keys []prefix, size int) use {
	u := use{total: size}
	last := lastCached(d, parts)
	at := 0
	for i, key := range keys {
		at += len(parts[i].raw)
		if i <= last && c[key] {
			u.read = at
		}
		if i == last && d.name == "anthropic" {
			u.write = at - u.read
		}
	}
	return u
}

// keep puts a request into the cache.
func (c cache) keep(d dialect, parts []segment, keys []prefix) {
	for _, key := range keys[:lastCached(d, parts)+1] {
		c[key] = true
	}
}

// lastCached returns the index of the last segment that is cached; -1: none is.
// The APIs of OpenAI cache without being asked.
func lastCached(d dialect, parts []segment) int {
	last := len(parts) - 1
	for d.name == "anthropic" && last >= 0 && !parts[last].marked {
		last--
	}
	return last
}

// prefix is the hash of the segments of a request up to one of them.
type prefix [sha256.Size]byte

// prefixes returns the prefix that ends with each segment.
func prefixes(d dialect, parts []segment) []prefix {
	keys := make([]prefix, len(parts))
	key := sha256.Sum256([]byte(d.name))
	for i, p := range parts {
		key = sha256.Sum256(append(key[:], canonical(p.raw)...))
		keys[i] = key
	}
	return keys
}

// usage counts u as the dialect does.
func (u use) usage(d dialect) precis.Usage {
	out := precis.Usage{Input: tokens(u.total), CacheRead: tokens(u.read), CacheWrite: tokens(u.write)}
	if d.name == "anthropic" {
		out.Input -= out.CacheRead + out.CacheWrite
	}
	return out
}

// segmentsOf returns the segments of fields in order: the elements of a list,
// or a value as a whole.
func segmentsOf(fields object, names ...string) (out []segment) {
	for _, name := range names {
		raw, ok := fields[name]
		if !ok {
			continue
		}
		list, err := elements(raw)
		if err != nil {
			list = []json.RawMessage{raw}
		}
		for _, e := range list {
			out = append(out, segment{raw: e, marked: countMarks(e) > 0})
		}
	}
	return out
}

// canonical returns JSON without cache_control and with sorted keys; content
// that is a string counts as one block of text.
func canonical(raw []byte) []byte {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return raw
	}
	out, _ := json.Marshal(simplify(v)) // it was JSON before
	return out
}

func simplify(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = simplify(v[i])
		}
	case made:
		delete(v, "cache_control")
		if s, ok := v["content"].(string); ok {
			v["content"] = []any{made{"type": "text", "text": s}}
		}
		for name := range v {
			v[name] = simplify(v[name])
		}
	}
	return v
}

// countMarks returns how many blocks carry cache_control in a message, a tool
// or a block, whatever the depth but not inside a tool's input.
func countMarks(raw []byte) int {
	var v any
	if !bytes.Contains(raw, []byte("cache_control")) || json.Unmarshal(raw, &v) != nil {
		return 0
	}
	return marks(v)
}

func marks(v any) (n int) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			n += marks(e)
		}
	case made:
		if v["cache_control"] != nil {
			n++
		}
		n += marks(v["content"])
	}
	return n
}
