package preview

// remarks is the meaning of the words in a line of output.
type remarks struct {
	failure bool // an error, a failure, a panic
	doubt   bool // a word of failure that is often harmless
	warning bool
	calm    bool // the line is marked as information
	passed  int  // the number next to a word like "passed"; -1 for none
	failed  int  // next to "failed"
	errors  int  // next to "errors"
	cut     bool // the output states that it was shortened
}

// readRemarks reads the words of s in one pass. Words that are part of a name,
// like those in error_test.go, do not count.
func readRemarks(s string) remarks {
	r := remarks{passed: -1, failed: -1, errors: -1}
	number := -1 // the number before the word
	for i := 0; i < len(s); {
		c := s[i]
		if isDigit(c) && (i == 0 || !isWord(s[i-1])) {
			number, i = readNumber(s, i)
			continue
		}
		if !isWord(c) {
			if c != ' ' {
				number = -1
			}
			i++
			continue
		}
		from := i
		for i < len(s) && isWord(s[i]) {
			i++
		}
		if !isName(s, from, i) {
			r.word(s, from, i, number)
		}
		number = -1
	}
	return r
}

func readNumber(s string, i int) (n, end int) {
	for i < len(s) && isDigit(s[i]) {
		if n < 1<<40 {
			n = n*10 + int(s[i]-'0')
		}
		i++
	}
	return n, i
}

// isName reports that the word s[from:to] is part of a path or an identifier.
func isName(s string, from, to int) bool {
	if from > 0 && (s[from-1] == '/' || s[from-1] == '-' ||
		s[from-1] == '.' && from > 1 && isWord(s[from-2])) {
		if to-from < 9 || !suffixed(s[from:to]) { // java.lang.IllegalStateException
			return true
		}
	}
	if to+1 >= len(s) {
		return false
	}
	next := s[to]
	return (next == '.' || next == '-' || next == '/' || next == '\\') && isWord(s[to+1])
}

// suffixed reports names of exceptions.
func suffixed(w string) bool {
	n := len(w)
	return n > 5 && w[n-5:] == "Error" || n > 9 && w[n-9:] == "Exception"
}

const longestWord = 12

// word records one word. number is the one before it, or -1.
func (r *remarks) word(s string, from, to, number int) {
	w := s[from:to]
	if suffixed(w) {
		r.failure = r.failure || to == len(s) || s[to] == ':' || s[to] == '[' || from == 0
		return
	}
	if len(w) > longestWord || len(w) < 3 {
		return
	}
	var lower [longestWord]byte
	for i := 0; i < len(w); i++ {
		c := w[i]
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		lower[i] = c
	}
	if number < 0 {
		number = numberAfter(s, to)
	}
	r.classifyWord(string(lower[:len(w)]), number)
}

// classifyWord classifies a word in lower case (error, failure, warning, success, …) and stores the
// number next to it in that class.
func (r *remarks) classifyWord(w string, number int) {
	switch w {
	case "error", "errors", "err":
		r.errors = number
		r.failure = r.failure || number != 0
	case "failed", "failure", "failures", "fail", "fails", "failing":
		r.failed = number
		r.failure = r.failure || number != 0
	case "panic", "panicked", "fatal", "exception", "traceback", "segfault", "segmentation", "aborted",
		"killed", "critical":
		r.failure = r.failure || number != 0
	case "cannot", "undefined", "unable", "denied", "refused", "unresolved", "missing", "invalid",
		"unexpected", "mismatch", "mismatched", "timeout":
		r.doubt = true
	case "warning", "warnings", "warn":
		r.warning = r.warning || number != 0
	case "passed", "passing", "pass", "passes":
		r.passed = number
	case "info", "debug", "trace", "verbose", "notice":
		r.calm = true
	case "truncated", "omitted", "elided":
		r.cut = true
	}
}

// numberAfter reads the number in "failures=1" or "Failures: 1"; -1 for none.
func numberAfter(s string, i int) int {
	if i >= len(s) || s[i] != '=' && s[i] != ':' {
		return -1
	}
	i++
	for i < len(s) && s[i] == ' ' {
		i++
	}
	if i >= len(s) || !isDigit(s[i]) {
		return -1
	}
	n, _ := readNumber(s, i)
	return n
}
