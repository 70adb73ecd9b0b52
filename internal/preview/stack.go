package preview

import "strings"

// stackFrame reports a line of a stack trace in Python, JavaScript, Java, Go or Rust. own is false
// for code of a library or the language.
func stackFrame(t string, indent int) (own, ok bool) {
	switch {
	case strings.HasPrefix(t, `File "`):
		ok = strings.Contains(t, `", line `)
	case strings.HasPrefix(t, "at "):
		ok = indent > 0 && (strings.IndexByte(t, '(') > 0 || strings.IndexByte(t, ':') > 0)
	case strings.HasPrefix(t, "/") && indent > 0:
		i := strings.LastIndex(t, ":")
		ok = i > 0 && i+1 < len(t) && isDigit(t[i+1]) && strings.IndexByte(t[:i], ' ') < 0
	}
	if !ok {
		return false, false
	}
	return !foreign(t), true
}

func foreign(t string) bool {
	for _, part := range []string{
		"site-packages", "dist-packages", "/lib/python", "<frozen ", "node_modules", "node:", "(internal/",
		"/usr/local/go/", "/pkg/mod/", "/rustc/", "/.cargo/",
		"at java.", "at javax.", "at jdk.", "at sun.", "at org.junit.", "at org.apache.",
		"at org.springframework.", "at kotlin.", "at scala.", "<anonymous>", "at core::", "at std::",
	} {
		if strings.Contains(t, part) {
			return true
		}
	}
	return false
}
