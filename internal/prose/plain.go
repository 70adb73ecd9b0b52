package prose

import "strings"

// AppendPlain appends the words of a text to out, in lower case, separated by one space. Everything
// but letters and digits separates words and is dropped. Commas within numbers are dropped, too.
func AppendPlain(out []byte, text string) []byte {
	space := len(out) == 0 || out[len(out)-1] == ' '
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c >= 'A' && c <= 'Z':
			out, space = append(out, c|0x20), false
		case c >= 'a' && c <= 'z', IsDigit(c), c >= 0x80 && c != 0xe2: // 0xe2: quotation marks and dashes
			out, space = append(out, c), false
		case c == 0xe2 && i+2 < len(text):
			i += 2
			if !space {
				out, space = append(out, ' '), true
			}
		case c == ',' && i > 0 && i+1 < len(text) && IsDigit(text[i-1]) && IsDigit(text[i+1]):
		case !space:
			out, space = append(out, ' '), true
		}
	}
	return out
}

// Plain returns the plain words of a text, without a space at its end.
func Plain(text string) string { return strings.TrimSpace(string(AppendPlain(nil, text))) }

// HasPlain reports whether plain words occur in others.
func HasPlain(all, want string) bool {
	for at := 0; want != ""; {
		i := strings.Index(all[at:], want)
		if i < 0 {
			return false
		}
		i += at
		end := i + len(want)
		if (i == 0 || !isAlnum(all[i-1])) && (end == len(all) || !isAlnum(all[end])) {
			return true
		}
		at = i + 1
	}
	return true
}

// IsDigit reports whether a byte is an ASCII digit.
func IsDigit(c byte) bool { return c >= '0' && c <= '9' }

func isAlnum(c byte) bool { return IsDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'z' }
