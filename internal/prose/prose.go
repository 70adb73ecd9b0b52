// Package prose says what kind of sentence an agent has written: what it does next, what it found and decided, or what it leaves open.
//
// It goes by words of the languages that agents are found to write, and only weighs: a sentence of which it knows nothing is
// neither.
package prose

import (
	"strings"

	"precis/internal/lazyregexp"
)

var (
	// narrates is how agents say what they do next: the call that follows says it better.
	narrates = lazyregexp.New(`^(?i:(?:ok(?:ay)?|alright|great|good|perfect|excellent|now|next|first|then|so|and|right|sure|done|yes|also|finally)[,.!:;]?\s+)*(?i:let me|let's|let us|i'll|i will|i'm going to|i am going to|now i|i need to|i should|i want to|i can see|i see|time to|looking at|checking|reading|running|updating|starting|je vais|voyons|regardons|ich werde|lass mich|schauen wir|voy a|vamos a|déjame|vou|vamos|adesso)\b|^(?i:сейчас|давайте|посмотрим)|^(?:现在)?(?:让我|我来|我将|我先|接下来|现在)|^(?:では|まず|次に|それでは)|^(?:이제|먼저)`)
	// narrating are the words of ASCII without which a sentence of ASCII says no such thing.
	narrating = phrases{list: func() string {
		return "let me|let's|let us|i'll|i will|i'm going to|i am going to|now i|i need to|i should|i want to|i can see|i see|time to|looking at|checking|reading|running|updating|starting|" +
			"je vais|voyons|regardons|ich werde|lass mich|schauen wir|voy a|vamos a|vou|vamos|adesso"
	}}
	// concluding is how they say what they found, decided, gave up and left open; concludes is the same in words and signs beyond ASCII.
	concluding = phrases{list: func() string {
		return each("the issue|the problem|the bug|the error|the cause|the reason|the fix|the failure|the key|the point|the difference|the trick", " is| was| here| lies") +
			"|because|since|root cause|caused by|found|turn out|turns out|mean|means|actually|instead|rather than|however|but|fixed|fixes|broke|broken|break|breaks|" +
			"fail|fails|failed|failing|failure|failures|error|errors|bug|bugs|passes|passed|passing|pass|work|works|working|doesn't|does not|didn't|did not|isn't|is not|wasn't|won't|can't|cannot|" +
			"never|only|must|need to|needs to|should|todo|remaining|remains|left to do|not yet|still|next step|next steps|pending|decided|decision|chose|reverted|gave up|abandon*|workaround|limitation|" +
			"note|important|warning|summary|complete|completed|done|implemented|added|removed|replaced|renamed|moved|changed|verified|confirmed|" +
			"weil|ursache|fehler|funktioniert|statt|nicht|entschieden|car|parce que|cause|erreur|fonctionne|porque|causa|funciona|falla|decid*"
	}}
	concludes = lazyregexp.New(`(?i)plutôt|потому|ошибка|причина|работает|✅|❌|⚠|✓|✗|因为|原因|问题|错误|修复|完成|失败|通过|需要|なぜなら|原因|問題|エラー|修正|完了|失敗|ため|때문|원인|오류|완료|실패`)
)

// Narrates reports whether a sentence says no more than what is done next: "Let me look at the tests."
func Narrates(sentence string) bool {
	return (narrating.in(sentence) || !isASCII(sentence)) && narrates.MatchString(sentence) && !says.MatchString(sentence)
}

// says are words behind which a sentence that begins like a narration gives its reason.
var says = lazyregexp.New(`(?i)\b(?:because|since the|root cause|turns? out|instead of|the (?:issue|problem|bug|cause) is)\b|因为|ため`)

// Concludes reports whether a sentence says what was found, decided, given up, or left open.
func Concludes(sentence string) bool {
	return concluding.in(sentence) || !isASCII(sentence) && concludes.MatchString(sentence)
}

// Decides reports whether a sentence states a cause or a decision outright: fewer sentences than those that conclude.
func Decides(sentence string) bool { return decides.MatchString(sentence) }

var decides = lazyregexp.New(`(?i)\b(?:root cause|the (?:cause|problem|issue|culprit|reason|fix|solution|answer|conclusion) (?:is|was)|turns out|i(?:'ve| have)? decided|we(?:'ve| have)? decided|decision|conclusion|the right (?:fix|approach|place)|this (?:confirms|means) that|confirmed that)\b|根本原因|结论|決定|原因は|Ursache|décidé|decidido`)

// IsCode reports whether a line reads like one of a program or of data, or is a note that stands in brackets as a whole: nothing that somebody says.
func IsCode(line string) bool {
	line = strings.TrimSpace(line)
	if line == "" {
		return false
	}
	first, last := line[0], line[len(line)-1]
	if strings.IndexByte("/*#<{", first) < 0 && strings.IndexByte("{};)],(:", last) < 0 && !strings.Contains(line, "//") && !strings.Contains(line, "=>") {
		return false // as most lines are: all that code knows has one of these
	}
	return first == '[' && last == ']' || code.MatchString(line)
}

// code knows comments, tags that stand alone, lines that open or end a block or a statement, and entries of an object or a list.
var code = lazyregexp.New(`^(?://|/\*|\*/|#include\b|</?[A-Za-z][\w.:-]*(?: [^<>]*)?/?>$)|^[^\x60]*[=(){}\[\]<>][^\x60]*[{;]$|^[\w$.'"\[\]]+\(.*\);?$|^[}\])]+[;,]?$|^['"]?[\w$-]+['"]?: .*(?:['"\x60\])}]|\b\d+|\b(?:true|false|null|undefined)),(?:\s*//.*)?$|^\{.*\},?$|^(?:if|while|for|switch|return|const|let|var|import|export|func|public|private|static)\b.*(?:[{;(]|=>.*)$|^(?:def|class) .*:$`)

// Gist returns a report without what agents begin it with before they come to its matter: headings, sentences that say what is
// done next, and those that only praise or announce. It is the whole text where nothing else is left. Of a long text it reads the
// first 4,000 bytes.
func Gist(report string) string {
	const most, leads = 4000, 8
	rest := strings.TrimSpace(report)
	for range leads {
		line, after, _ := strings.Cut(rest[:min(len(rest), most)], "\n")
		line = strings.TrimSpace(line)
		sentence, more := line, ""
		if n := strings.IndexAny(line, ".!:"); n >= 0 && n+1 < len(line) && line[n+1] == ' ' {
			sentence, more = line[:n+1], line[n+1:]
		}
		switch {
		case strings.HasPrefix(line, "#"), line == "---", line == "", strings.HasSuffix(line, ":") && announces(line), Narrates(line) && more == "":
			rest = strings.TrimSpace(rest[strings.Index(rest, line)+len(line):])
		case more != "" && (Narrates(sentence) || announces(sentence)):
			rest = strings.TrimSpace(rest[strings.Index(rest, sentence)+len(sentence):])
		default:
			return rest
		}
		if rest == "" && after == "" {
			return strings.TrimSpace(report)
		}
	}
	return rest
}

// announcement is a sentence that says that a report follows, or praises.
var announcement = lazyregexp.New(`(?i)^(?:(?:perfect|great|excellent|good|done|okay|ok|alright|sure)[.!]?$|(?:based on|here(?:'s| is| are)|below (?:is|are)|i(?:'ve| have) (?:now )?(?:all|everything|enough|searched|explored|analy[sz]ed|reviewed|completed)|now i have|this is (?:a|the) (?:summary|report)|summary of|in summary)\b)`)

func announces(sentence string) bool { return announcement.MatchString(strings.Trim(sentence, " *_:")) }
