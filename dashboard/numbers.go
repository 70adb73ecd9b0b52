package dashboard

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/precis-dev/precis/internal/visible"
)

// formatDuration writes a duration: 340 ms, 2.1 s.
func formatDuration(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// formatAge writes the time between at and now.
func formatAge(t func(string, ...any) string, at, now time.Time) string {
	if at.IsZero() {
		return "–"
	}
	d := now.Sub(at)
	for _, u := range []struct {
		key  string
		size time.Duration
	}{{"ago.days", 24 * time.Hour}, {"ago.hours", time.Hour}, {"ago.minutes", time.Minute}} {
		if n := int(d / u.size); n > 0 {
			return t(u.key, n)
		}
	}
	return t("ago.now")
}

// masked hides the content of a text: letters and digits become dots.
func masked(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) {
			return '•'
		}
		return r
	}, s)
}

// brief returns the first n characters of a text as one line.
func brief(s string, n int) string {
	s = strings.Join(strings.Fields(visible.FirstBytes(s, 8*n)), " ")
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n]) + "…"
}
