package control_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"
)

// check compares a response with the document.
func (p *place) check(method, path string, res *http.Response, raw []byte) {
	p.t.Helper()
	for template, item := range p.doc["paths"].(map[string]any) {
		pattern := "^" + regexp.MustCompile(`\\\{\w+\\\}`).ReplaceAllString(regexp.QuoteMeta(template), "[^/]+") + "$"
		op, ok := item.(map[string]any)[strings.ToLower(method)].(map[string]any)
		if !ok || !regexp.MustCompile(pattern).MatchString(path) {
			continue
		}
		responses := op["responses"].(map[string]any)
		found, ok := responses[fmt.Sprint(res.StatusCode)].(map[string]any)
		if !ok {
			p.t.Errorf("%s %s: status %d is not in the document", method, path, res.StatusCode)
			return
		}
		if ref, ok := found["$ref"].(string); ok {
			found = p.doc["components"].(map[string]any)["responses"].(map[string]any)[ref[strings.LastIndex(ref, "/")+1:]].(map[string]any)
		}
		kind := res.Header.Get("Content-Type")
		media, ok := found["content"].(map[string]any)[kind].(map[string]any)
		if !ok {
			p.t.Errorf("%s %s: content type %s is not in the document", method, path, kind)
			return
		}
		var v any
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			p.t.Errorf("%s %s: %v", method, path, err)
			return
		}
		p.fits(method+" "+template, v, media["schema"].(map[string]any))
		return
	}
	if res.StatusCode < 400 {
		p.t.Errorf("%s %s is not in the document", method, path)
	}
}

// fits reports where a value does not keep to a schema. Fields that the schema
// does not name are wrong, too.
func (p *place) fits(at string, v any, s map[string]any) {
	p.t.Helper()
	if ref, ok := s["$ref"].(string); ok {
		s = p.doc["components"].(map[string]any)["schemas"].(map[string]any)[strings.TrimPrefix(ref, "#/components/schemas/")].(map[string]any)
	}
	kind, _ := s["type"].(string)
	ok := true
	switch v := v.(type) {
	case nil:
		ok = kind == ""
	case bool:
		ok = kind == "boolean" || kind == ""
	case json.Number:
		_, err := v.Int64()
		ok = kind == "number" || kind == "integer" && err == nil || kind == ""
	case string:
		ok = (kind == "string" || kind == "") && fitsString(v, s)
	case []any:
		if ok = kind == "array" || kind == ""; ok && kind != "" {
			for i, e := range v {
				p.fits(fmt.Sprintf("%s[%d]", at, i), e, s["items"].(map[string]any))
			}
		}
	case map[string]any:
		if ok = kind == "object" || kind == ""; ok && kind != "" {
			p.fitsObject(at, v, s)
		}
	}
	if !ok {
		p.t.Errorf("%s: %.200v does not keep to %v", at, v, s)
	}
}

func fitsString(v string, s map[string]any) bool {
	if list, ok := s["enum"].([]any); ok {
		for _, e := range list {
			if e == v {
				return true
			}
		}
		return false
	}
	if pattern, ok := s["pattern"].(string); ok && !regexp.MustCompile(pattern).MatchString(v) {
		return false
	}
	if s["format"] == "date-time" {
		_, err := time.Parse(time.RFC3339, v)
		return err == nil
	}
	return true
}

func (p *place) fitsObject(at string, v, s map[string]any) {
	p.t.Helper()
	props, _ := s["properties"].(map[string]any)
	if props == nil && s["additionalProperties"] == nil {
		return
	}
	list, _ := s["required"].([]any)
	for _, name := range list {
		if _, ok := v[name.(string)]; !ok {
			p.t.Errorf("%s: %v is missing", at, name)
		}
	}
	for name, e := range v {
		if prop, ok := props[name].(map[string]any); ok {
			p.fits(at+"."+name, e, prop)
		} else if more, ok := s["additionalProperties"].(map[string]any); ok {
			p.fits(at+"."+name, e, more)
		} else {
			p.t.Errorf("%s: %s is not in the document", at, name)
		}
	}
}
