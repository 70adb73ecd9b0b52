package harness

import (
	_ "embed"
	"strings"

	"github.com/precis-dev/precis/internal/lazyregexp"
	"github.com/precis-dev/precis/internal/table"
)

// filesBegin and filesEnd enclose the files that a person named with @ in Gemini CLI and Qwen Code.
const filesBegin, filesEnd = "--- Content from referenced files ---", "--- End of content ---"

// filesIn returns the spans of such files in a text: up to the last end line, since a file may
// contain that line, too.
func filesIn(text string) [][2]int {
	from := strings.Index(text, filesBegin)
	if from < 0 || from > 0 && text[from-1] != '\n' {
		return nil
	}
	to := strings.LastIndex(text, filesEnd)
	if to < from {
		return [][2]int{{from, len(text)}}
	}
	return [][2]int{{from, to + len(filesEnd)}}
}

//go:embed mail.txt
var mailText string

var mailHeaders = table.Lazy("mail.txt", mailText, "name", "is")

// mailSigned begins the last paragraph of a mail.
var mailSigned = lazyregexp.New(`^(?i:--$|(?:best|kind|warm)?\s?(?:regards|wishes)\b|best,|cheers\b|thanks,|thank you,|sincerely\b|yours\b|(?:viele|beste|liebe|mit freundlichen|freundliche) gr[uü](?:ß|ss)|mfg\b|cordialement\b|bien à vous\b|salutations\b|saludos\b|un saludo\b|atentamente\b|с уважением\b|此致|敬具|よろしくお願い)`)

// leastHeaders is the least number of header lines of a mail: a person's own line may look like
// one.
const leastHeaders = 3

// mailIn returns the spans of pasted mails: each from its headers to the end of the paragraph with
// the signature, or to the end of the text.
func mailIn(text string) (out [][2]int) {
	var m mail
	at := 0
	for line := range strings.Lines(text) {
		if isBetween(text, at, at+len(line)) {
			if m.begun() {
				out = append(out, [2]int{m.from, at})
			}
			m = mail{}
			at += len(line)
			continue
		}
		bare := strings.TrimSpace(line)
		header := headerOf(bare)
		switch {
		case m.begun() && m.signed && bare == "":
			out, m = append(out, [2]int{m.from, at}), mail{}
		case m.begun():
			m.signed = m.signed || mailSigned.MatchString(bare[:min(len(bare), longestSigned)])
		case header != "":
			if m.headers == 0 {
				m.from = at
			}
			m.headers++
			m.subject = m.subject || mailHeaders().Has(header, "is", "subject")
		default:
			m = mail{}
		}
		at += len(line)
	}
	if m.begun() {
		out = append(out, [2]int{m.from, len(text)})
	}
	return out
}

// longestSigned is how many bytes of a line are searched for a signature.
const longestSigned = 40

// mail is a mail as its lines are read.
type mail struct {
	from    int  // where its head begins
	headers int  // lines of it so far
	subject bool // one of them is the subject
	signed  bool
}

// begun reports whether the header lines suffice for a mail.
func (m mail) begun() bool { return m.headers >= leastHeaders && m.subject }

// headerOf returns the name of a header line; "" for other lines.
func headerOf(line string) string {
	const longest = 20 // bytes of its name
	at := strings.IndexAny(line[:min(len(line), longest)], ":：")
	if at < 0 || strings.Trim(line[at:], " :：") == "" {
		return ""
	}
	name := strings.ToLower(strings.TrimSpace(line[:at]))
	if _, known := mailHeaders().Find(name); !known {
		return ""
	}
	return name
}
