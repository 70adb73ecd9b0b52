package rules

import (
	"slices"
	"strings"
)

// What a program that is built must do is no rule of how to work, though it is said in the same words.

// used reports whether a sentence tells what happens to those who use a program: "when the user clicks save, don't reload", "never
// show it to users that …".
func used(parts []clause) bool {
	const near = 2 // words to those who use it
	if c := parts[0].bare(); len(c) > 1 && usersHead[c[0].text] {
		return true
	}
	for _, c := range parts {
		for i, w := range c {
			if !conditional[w.text] && !toWhom[w.text] && (w.class&when == 0 || !conditional[firstOf(w.text)]) {
				continue
			}
			for _, who := range c[i+1 : min(i+1+near, len(c))] {
				if users[who.text] {
					return true
				}
			}
		}
	}
	return false
}

// describes reports whether a clause says what some part of a program must or should do: its subject is none of the work, and none
// of those who do it.
func (c clause) describes() bool {
	i := c.find(must | should)
	return i > 0 && c[:i].find(you|work|lack) < 0 && !ourselves[c[0].text] && !c.binds()
}

// continues reports whether a clause goes on with what the clause before it describes: "it must be polite, never shout", "…, and
// it must never ask twice". What must not be touched, and what somebody calls a rule, is said anew.
func (c clause) continues(chars bool) bool {
	if c.has(touch|work|you) || c.has(firm) && !c.has(often) && !ifOnly[c[0].text] && (!chars || c.has(thing)) {
		return false
	}
	if ifOnly[c[0].text] || chars && c.has(ban) && !c.has(thing) || c[0].class&ban != 0 && (c[0].class&often != 0 || c[1:].has(often)) {
		return true
	}
	if len(c) > 1 && c[0].class&ban != 0 && being[c[1].text] { // "et n'être jamais vide"
		return true
	}
	return c[0].class&often != 0 && c[0].class&(ban|order) != 0 || pronouns[c[0].text] && c.has(must|should)
}

// keepsOne reports whether an order to keep something keeps a part of a program, as a step: "keep the header, drop the footer", "keep
// the icons for the others".
func (c clause) keepsOne(behind clause) bool {
	for i := 1; i+1 < len(c); i++ {
		if c[i].text == "when" && strings.HasSuffix(c[i+1].text, "ing") { // "… when exporting"
			return true
		}
	}
	const short = 3 // words of a noun with its article
	if len(c) < 2 || c[0].class&article == 0 || c[0].class&it != 0 || c.has(work|thing|touch|often|firm|not|lasts|you) {
		return false
	}
	if next := behind.bare(); len(c) <= short && c[len(c)-1].use() == 0 && len(next) > 1 && next[0].class&(ban|order|report|it|you) == 0 && next[1].class&article != 0 {
		return true
	}
	return len(c) > short && (places[c[2].text] || len(c) > short+1 && places[c[3].text]) && !c.numbered()
}

// placed reports whether what is forbidden belongs to a part of what is built: "don't wrap the text in the cells", "avoid overlaps in
// the chart".
func (c clause) placed(head word) bool {
	if head.class&often != 0 || len(c) < 3 || c.has(work|thing|touch|often|firm|you) || c[0].class&bare != 0 {
		return false
	}
	return (head.text == "avoid" || head.text == "please no" || len(c) > 1 && c[1].class&article != 0) && c.particular()
}

// behaves reports whether what is forbidden is what programs do by themselves: "don't redirect to the start page".
func (c clause) behaves() bool {
	return slices.ContainsFunc(c, func(w word) bool { return behaving[w.text] }) && !c.has(work|you)
}

// displays reports whether what somebody is always to do is what programs do before those who use them, see [clause.appears]: "always
// hide it". Who works shows something to the person.
func (c clause) displays() bool {
	return len(c) > 1 && appearing[c[0].text] && !c.has(work|you|firm) && !slices.ContainsFunc(c, func(w word) bool { return us[w.text] })
}

// creates reports whether a clause orders something new to be built.
func (c clause) creates() bool {
	const near = 4 // words to what is built
	if len(c) < 2 {
		return false
	}
	first, second, _ := strings.Cut(c[0].text, " ")
	if !creating[first] {
		return false
	}
	return indefinite[second] || slices.ContainsFunc(c[1:min(len(c), near)], func(w word) bool { return indefinite[w.text] })
}

// createsFor reports whether a clause orders something new with what it is for: "create a script to reproduce it".
func (c clause) createsFor() bool { return c.creates() && c.has(purpose) && !c.has(work|you) }

// creates reports whether a clause in a language orders something new to be built; one without articles has no word for something new.
func (x *lexicon) creates(c clause) bool {
	return c.creates() || x.chars && len(c) > 1 && creating[c[0].text] && c[1].class&(thing|work) == 0
}

// hasRelative reports whether a clause has one about a noun in it: "a script that".
func (c clause) hasRelative() bool {
	return len(c) > 2 && slices.ContainsFunc(c[2:], func(w word) bool { return relative[w.text] })
}

// role is what a sentence does among those around it, in bits.
type role uint8

const (
	creates   role = 1 << iota // it orders something new to be built: "build a queue"
	specifies                  // it says what some part of a program must or should do
	continues                  // it may go on with such a description: "never round up", "it must never …"
	attaches                   // what it demands may be a part of what is built: "messages must be sent once"
)

// roleOf returns the role of a sentence.
func (x *lexicon) roleOf(s string, parts []clause) (r role) {
	if x.chars && ordersNew(s) {
		r |= creates
	}
	for i, c := range parts {
		c = c.bare()
		if len(c) < 2 {
			continue
		}
		if x.creates(c) {
			r |= creates
		}
		k := c.find(must | should)
		if k > 0 && r&specifies == 0 && len(c) > 2 && c.describes() && !c.has(touch|firm|you) {
			r |= specifies
		}
		if i > 0 {
			continue
		}
		if x.chars && (topical(s) || c[0].class&^(plain|report) == 0 && c.has(must|should)) && !c.has(touch|work|you) && (topical(s) || !c.has(thing)) {
			r |= attaches
		}
		if c.continues(x.chars) {
			r |= continues
		}
		if k > 0 && c[:k].find(you|work|lack) < 0 && (c[0].class&report == 0 || pronouns[c[0].text] || c[0].class&article != 0) && !ourselves[c[0].text] && !c[k:].has(touch|firm|work|you) {
			r |= attaches
		}
	}
	return r
}

// paragraph is what is known of the sentences of one.
type paragraph struct {
	created int  // how many sentences ago something was ordered to be built; 0: never
	last    role // of the sentence before
}

// describes reports whether a sentence that has the words of a rule is one of a description of what is to be built.
func (p paragraph) describes(r role) bool {
	return r&continues != 0 && p.last&specifies != 0 || r&attaches != 0 && p.created > 0
}

// add goes on with a sentence.
func (p *paragraph) add(r role) {
	const most = 6 // sentences that an order to build something is good for
	p.last = r
	switch {
	case r&creates != 0:
		p.created = 1
	case p.created > 0:
		p.created = (p.created + 1) % (most + 1)
	}
}

// sketch is what a sentence says of a program that is built.
type sketch struct {
	step      bool // it is a step of a plan
	created   bool // it orders something to be built
	named     bool // and tells what that does
	described bool // the clause before says what it must do
}

func (x *lexicon) sketchOf(s string, parts []clause) sketch {
	k := sketch{step: step(s), created: x.creates(parts[0].bare())}
	k.named = k.created && parts[0].hasRelative()
	return k
}

// covers reports whether clause i, without its fillers c, is a part of a sketch, and goes on with it.
func (k *sketch) covers(x *lexicon, parts []clause, i int, c clause) bool {
	built := k.described && c.continues(x.chars) ||
		k.step && !c.has(touch|work|you|firm) && c[0].class&(ban|order) != 0
	if i > 0 && k.created && (parts[i][0].class&article != 0 && c[len(c)-1].use() == 0 || k.named) && c[0].class&(task|you) == 0 {
		built, k.named = true, true
	}
	if i > 0 && k.created && c[0].class&ban != 0 && c[0].class&often == 0 && len(c) > 1 && c[1].use() == 0 && !c.has(touch|work|you|bare) { // "write a counter, but don't count blanks"
		built = true
	}
	k.described = c.describes() || k.described && built
	return built
}

// uses reports whether a clause says what happens to those who use a program.
func (k *sketch) uses(x *lexicon, parts []clause, c clause) bool {
	return len(c) > 1 && (!c.has(touch|work|firm) || x.chars && !c.has(touch|work|thing)) && used(parts)
}

// onEvent reports whether a clause ends with what happens to a part of a program: "when the window is closed".
func (c clause) onEvent() bool {
	for i := 1; i+2 < len(c); i++ {
		if conditional[c[i].text] && c[i+1].class&article != 0 && c[i+2].class&(work|thing|touch) == 0 {
			return true
		}
	}
	return false
}

// step reports whether a sentence is a step of a plan by its number: "8.3 If any test fails, fix it".
func step(s string) bool {
	const longest = 24                                                  // bytes of "Passaggio 12:"
	if label, _, ok := strings.Cut(s[:min(len(s), longest)], ":"); ok { // "Step 3: …"
		name, number, ok := strings.Cut(label, " ")
		if ok && steps[strings.ToLower(name)] && strings.Trim(number, "0123456789") == "" {
			return true
		}
	}
	if s == "" || s[0] < '0' || s[0] > '9' {
		return false
	}
	number, _, ok := strings.Cut(s, " ")
	major, minor, parted := strings.Cut(strings.TrimRight(number, ".)"), ".")
	return ok && parted && major != "" && minor != "" && strings.Trim(major+minor, "0123456789.") == ""
}

// isLogged reports whether a line is one of a log, or of a program that failed: it begins with what they begin with.
func isLogged(line string) bool {
	word, rest, _ := strings.Cut(strings.TrimLeft(line, " \t"), " ")
	if program, _, _ := strings.Cut(rest, " "); levels[strings.Trim(program, "[]:!")] && word == strings.ToLower(word) && word != "" { // "npm ERR! …"
		return true
	}
	if n := len(word); n >= len("10:22:03") && strings.Trim(word, "0123456789-:.,/[]TZ+") == "" && strings.Count(word, ":")+strings.Count(word, "-") > 1 { // a time
		return true
	}
	return levels[strings.Trim(word, "[]:!")] && word != "" && rest != "" || word == "Error:"
}

// isComment reports whether a line is a comment within code: it is indented, as no heading is.
func isComment(line string) bool {
	bare := strings.TrimLeft(line, " \t")
	const least = 2 // spaces of an indented line
	return len(line)-len(bare) >= least && (strings.HasPrefix(bare, "# ") || strings.HasPrefix(bare, "// "))
}

var (
	// users are the words for those who use what is built.
	users = set("somebody|someone|anyone|anybody|user|users|a user|the user|visitor|visitors|guest|guests|player|players|shopper|shoppers|reader|readers|benutzer|nutzer|anwender|besucher|utilisateur|utilisateurs|visiteur|visiteurs|usuario|usuarios|visitante|visitantes|utente|utenti|visitatore|visitatori|usuário|usuários|utilizador|пользователь|пользователи|пользователя|пользователей|посетитель")
	// creating are the orders to build something.
	creating = set("做|做一个|开发|build|write|add|implement|create|make|design|develop|code|program|bau|baue|schreib|schreibe|erstelle|entwickle|implementiere|füge|écris|crée|créez|ajoute|ajoutez|implémente|développe|construis|escribe|crea|añade|implementa|desarrolla|construye|scrivi|aggiungi|sviluppa|costruisci|escreva|crie|adicione|implemente|desenvolva|напиши|создай|добавь|сделай|реализуй|写|创建|实现|添加")
	// indefinite are the words before something new.
	indefinite = set("a|an|new|some|two|three|ein|eine|einen|neue|neuen|un|une|una|uma|um|nouveau|nouvelle|nuevo|nueva|nuovo|nuova|novo|nova|новый|новую|новое")
	// steps are the words for a part of a plan.
	steps = set("step|phase|schritt|étape|paso|passo|passaggio|шаг")
	// usersHead are the same where they begin a sentence that has no spaces: the word behind them says what they do, at its end.
	usersHead = set("用户|用戶|使用者|访客|訪客|玩家|ユーザー|利用者|訪問者|プレイヤー|사용자|이용자|방문자")
	// ifOnly are the words before the condition of what a program does.
	ifOnly = set("only if|nur wenn|nur falls|seulement si|que si|solo si|sólo si|só se|somente se|apenas se|solo se|soltanto se|только если")
	// behaving are the verbs for what programs do by themselves.
	behaving = set("redirect|navigate|reload|autoplay|autofocus|redirige|recharge|umleiten|redirijas|recargues|recarregue|redirecione|redireciona|перенаправляй|перезагружай|跳转|刷新页面|重新加载|自动播放|再読み込み|リロード|遷移|ページに移動|画面に移動|새로고침|페이지로 이동|화면으로 이동")
	// being are the verbs for how something is.
	being = set("be|être|estar|ser|essere|sein|быть")
	// toWhom are words before those for whom a program does something.
	toWhom = set("for|to|für|pour|aux|para|per|agli|для")
	// pronouns are the words for a thing that was told of.
	pronouns = set("it|they|he|she|er|sie|es|il|elle|ils|elles|ello|ella|ellos|esso|essa|ele|ela|eles|он|она|оно|они")
	// levels are the words with which programs begin the lines of a log.
	levels = set("ERR|ERROR|WARN|WARNING|INFO|DEBUG|TRACE|FATAL|CRITICAL|NOTICE|error|warning|fatal|Traceback")
)
