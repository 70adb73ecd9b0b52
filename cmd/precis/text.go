package main

import (
	"encoding/json"
	"strings"

	"precis"
)

// oneLine puts text on one line of at most n characters.
func oneLine(s string, n int) string {
	if len(s) > 8*n {
		s = s[:8*n]
	}
	runes := []rune(strings.ToValidUTF8(strings.Join(strings.Fields(s), " "), "?"))
	if n = max(n, 8); len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return string(runes)
}

// shellWord quotes s where a shell would take it apart.
func shellWord(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\n'\"\\$`&|;<>()*?[]#~!{}") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// printJSON writes v indented.
func (a *app) printJSON(v any) error {
	e := json.NewEncoder(a.out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return precis.Errorf(precis.CodeInternal, "write JSON", "%w", err)
	}
	return nil
}
