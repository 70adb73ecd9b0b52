package harness

import (
	"slices"
	"strings"

	"precis/internal/lazyregexp"
)

// filesBegin and filesEnd are the lines between which Gemini CLI and Qwen Code put files that a
// person named with @.
const filesBegin, filesEnd = "--- Content from referenced files ---", "--- End of content ---"

// filesIn returns where such files stand in a text: up to the last line that ends them, since a
// file may hold that line, too.
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

// latinHeaders are the names of lines in the head of a mail, and wideHeaders those of scripts without case.
var (
	latinHeaders = []string{
		"from", "to", "cc", "bcc", "reply-to", "subject", "date", "sent", "message-id", "von", "an", "betreff", "datum", "gesendet", "de", "à", "objet", "envoyé", "para", "asunto", "enviado", "fecha",
		"от", "кому", "тема", "дата",
	}
	wideHeaders = []string{"发件人", "收件人", "抄送", "主题", "日期", "发送时间", "差出人", "宛先", "件名", "日時", "送信者"}
)

// headerNames are all of them.
var headerNames = func() map[string]bool {
	names := map[string]bool{}
	for _, name := range slices.Concat(latinHeaders, wideHeaders) {
		names[name] = true
	}
	return names
}()

var (
	// mailHeader is a line in the head of a mail, as programs write them in some languages.
	mailHeader = lazyregexp.New(`^(?i:` + strings.Join(latinHeaders, "|") + `) ?: ?\S|^(?:` + strings.Join(wideHeaders, "|") + `)\s?[:：]\s?\S`)
	// mailSubject is the line that every such head has.
	mailSubject = lazyregexp.New(`^(?i:subject|betreff|objet|asunto|тема) ?: ?\S|^(?:主题|件名)\s?[:：]`)
	// mailSigned begins the last paragraph of a mail.
	mailSigned = lazyregexp.New(`^(?i:--$|(?:best|kind|warm)?\s?(?:regards|wishes)\b|best,|cheers\b|thanks,|thank you,|sincerely\b|yours\b|(?:viele|beste|liebe|mit freundlichen|freundliche) gr[uü](?:ß|ss)|mfg\b|cordialement\b|bien à vous\b|salutations\b|saludos\b|un saludo\b|atentamente\b|с уважением\b|此致|敬具|よろしくお願い)`)
)

// leastHeaders is how many lines of a head a mail has at least: some begin a line of a person's, too.
const leastHeaders = 3

// mailIn returns where mails that were pasted stand: each from its head to the end of the paragraph that it is signed with,
// to the end of the text where it is not signed.
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
		switch {
		case m.begun() && m.signed && bare == "":
			out, m = append(out, [2]int{m.from, at}), mail{}
		case m.begun():
			m.signed = m.signed || mailSigned.MatchString(bare[:min(len(bare), longestSigned)])
		case isHeader(bare):
			if m.headers == 0 {
				m.from = at
			}
			m.headers++
			m.subject = m.subject || mailSubject.MatchString(bare)
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

// longestSigned is within how many bytes of a line it shows that it signs a mail.
const longestSigned = 40

// mail is a mail as its lines are read.
type mail struct {
	from    int  // where its head begins
	headers int  // lines of it so far
	subject bool // one of them says what it is about
	signed  bool
}

// begun reports whether the head is that of a mail.
func (m mail) begun() bool { return m.headers >= leastHeaders && m.subject }

// isHeader reports whether a line may stand in the head of a mail.
func isHeader(line string) bool {
	const longest = 20 // bytes of its name
	at := strings.IndexAny(line[:min(len(line), longest)], ":：")
	return at >= 0 && headerNames[strings.ToLower(strings.TrimSpace(line[:at]))] && mailHeader.MatchString(line)
}
