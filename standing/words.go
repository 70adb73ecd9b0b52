package standing

import (
	"slices"
	"strings"
	"unicode/utf8"

	"precis/internal/harness"
	"precis/internal/lazyregexp"
)

// clauseStart is what stands before a verb that begins a clause.
const clauseStart = `(?:^|[,;:—–-]\s*|\b(?:and|please|let'?s|just|actually|so|then|ok|okay|no|better|rather|to|we|we'll|we should|we can|we will|we must|you can)\s+)`

// Words of persons about a plan, in nine languages. They are looked for in what was typed,
// not in what is quoted.
var (
	// givesUp holds for a plan as a whole: the verb begins a clause, and the object ends one.
	givesUp = lazyregexp.New(`(?i)(?:` +
		clauseStart +
		`(?:(?:drop|scrap|forget|abandon|discard|ditch|scratch|cancel|shelve|bin|kill|stop|skip|leave|never\s?mind)\s+(?:about\s+)?(?:all\s+(?:of\s+)?(?:that|this|it|those|these)|that|this|it|those|these|everything|(?:(?:all\s+)?(?:the|that|this|your|those|these)\s+)(?:whole\s+|entire\s+|old\s+|current\s+)?(?:plan|list|todos?|to-?do list|tasks?|steps?|items|idea|approach))(?:\s+(?:all|please|completely|entirely|altogether|again|instead|for now|out|aside|away))*` +
		`|throw\s+(?:(?:all\s+)?(?:that|this|it|those|these)|(?:the|that|this|your)\s+(?:whole\s+|entire\s+)?(?:plan|list))\s+(?:all\s+)?(?:away|out)|start over(?: from scratch| again)?)\s*(?:$|[,;:—–-]|\s(?:and|we|i|let'?s|just|because|since)\b)` +
		`|\bchange of plans?\b|\b(?:plan|list|all (?:of )?(?:that|this)|approach) (?:is|are) (?:off|out|dead|obsolete|void|cancel+ed|no longer (?:needed|valid|relevant))\b|\bthe plan (?:has )?(?:changed|no longer (?:holds|applies|stands))\b` +
		`|\bno need for (?:any|all) of (?:that|this|it|those|these)\b` +
		`|\b(?:don'?t|do not|we won'?t|no longer|not) (?:need|want|do|doing|follow(?:ing)?|continue with|going with|go with) (?:(?:any|all) of (?:that|this|it|those|these)|all (?:that|this)|that|this|it|those|the plan|your plan|the list|the steps) ?(?:any ?more|any longer|at all)?\s*(?:$|[,;:—–-])` +
		`|\b(?:vergiss|verwirf|streich\w*|lass|stopp\w*)\s+(?:das|den plan|die liste|alles|es|den ganzen plan)(?:\s+(?:alles|ganze|bitte|wieder|sein))*\s*(?:$|[,;:—–-])|\bplan (?:ist )?(?:verworfen|hinfällig|gestrichen|vom tisch)\b` +
		`|\b(?:oublie[zr]?|laisse[zr]? tomber|abandonne[zr]?)\s+(?:tout\s+)?(?:ça|cela|le plan|tout|la liste|ce plan)\b|\b(?:olvida|olvídate de|descarta|deja|cancela|abandona)\s+(?:todo\s+)?(?:eso|esto|el plan|todo|la lista|ese plan)\b` +
		`|\b(?:esqueça|esquece|descarte|abandone)\s+(?:tudo\s+)?(?:isso|o plano|tudo|a lista)\b` +
		`|\b(?:lascia perdere|lasciamo perdere|dimentica(?:ti)?|annulla|scarta|butta via)\s+(?:di\s+)?(?:tutto\s+)?(?:questo|quello|il piano|tutto|la lista|quel piano)\b` +
		`|(?:^|[^\p{L}])(?:отмени|отменяй|отменяем|забудь|забей на|брось|бросай|выкинь|выбрось|отбрось|оставь|откажись от|отказываемся от)(?:те)?\s+(?:про\s+|об?\s+)?(?:вс[её]\s+|весь\s+|все\s+)?(?:это|этот план|этого плана|этом плане|план|плана|плане|вс[её]|список|списка)(?:[^\p{L}]|$)|(?:^|[^\p{L}])план (?:отменяется|отмен[её]н|больше не (?:нужен|актуален))` +
		`|(?:放弃|取消|不要|忘掉|忘了|作废|丢掉)(?:这个|那个|之前的|原来的|该|整个|上面的)?(?:计划|方案|列表|清单|任务|步骤|那些|这些)|^算了|(?:計画|プラン|リスト|それ|全部)(?:は|を|も)?(?:やめ|中止|破棄|忘れて|取り消)|(?:계획|전부|그거)(?:은|는|을|를)?\s*(?:취소|그만|버리|잊어))`)
	// supposes begins a sentence that says what is to happen some time, or asks.
	supposes = lazyregexp.New(`(?i)(?:^|\s)(?:if|when|whenever|unless|until|make sure|ensure|should(?:n't)?|never (?:drop|scrap|forget|abandon|discard|cancel|skip|stop)|don'?t (?:drop|scrap|forget|abandon|discard|cancel|skip|stop)|do not (?:drop|scrap|forget|abandon|discard|cancel|skip|stop)|button|the plan is to|the goal is to)\b|(?:^|\s)(?:если|когда|чтобы|не (?:отмен|забу|забе|брос|выки|выбр|отбр|оста|отка))|[?？]\s*$`)
	// dropsOne stands before what is given up, see [givenUpIn].
	dropsOne = lazyregexp.New(`(?i)(?:` + clauseStart + `(?:drop|scrap|forget(?: about)?|abandon|discard|ditch|cancel|skip|leave out|park|shelve|postpone|defer|hold off on)|\b(?:don'?t|do not|no longer) need|` +
		`(?:^|[\s,;])(?:überspring\w*|streich\w*|vergiss|oublie[zr]?|laisse[zr]? tomber|abandonne[zr]?|saute[zr]?|olvida(?:te)?(?: de)?|olvídate de|omite|salta(?:te)?|descarta|lascia perdere|dimentica|esque[çc]a|pule))\s+`)
	// dropsBefore names it before the verb.
	dropsBefore = lazyregexp.New(`(?i)(?:^|[,;]\s*)([^.!?;,\n]{3,80}?)\s+(?:lassen wir (?:weg|aus|sein)|brauchen wir (?:doch )?nicht(?: mehr)?|can wait\b|(?:is|are) (?:no longer|not) needed\b|(?:isn'?t|aren'?t) needed\b|(?:is|are) off the table\b|n'est plus nécessaire|n'est pas nécessaire|ya no hace falta|no hace falta|non serve più|не нуж[а-я]+)`)
	// consent begins the words with which a person lets a proposal be carried out.
	consent = lazyregexp.New(`(?i)^[\s"'*]*(?:(?:yes|yep|yeah|yup|ok|okay|sure|fine|great|perfect|good|nice|agreed|approved?|accept(?:ed)?|lgtm|absolutely|exactly|correct|right)\b|go\b|do (?:it|that|so)\b|proceed\b|please (?:do|proceed|go|start|continue|implement)\b|start\b|begin\b|continue\b|let'?s (?:do|go|start)\b|(?:that |this |it |the plan )?(?:looks?|sounds?) (?:good|great|fine|right|ok)|implement (?:it|that|this|the plan)\b|ja\b|gut\b|passt\b|los\b|mach\b|einverstanden\b|oui\b|d'accord|vas-y|allez|parfait|sí\b|si\b|vale\b|dale\b|adelante|de acuerdo|perfecto|sim\b|pode\b|はい|お願い|進めて|いいです|了解|好|可以|行|同意|没问题|开始|继续|네|좋아|진행|(?:да|давай|хорошо|ладно|согласен|согласна|отлично|приступай|начинай|va bene|procedi|d'accordo|sì)(?:[^\p{L}]|$))`)
	// refusal takes a consent back in its own sentence.
	refusal = lazyregexp.New(`(?i)^[^.!?\n]{0,40}\b(?:not yet|but (?:don'?t|do not|no)|no\b|wait\b|instead\b)`)
)

// mostHeard is how many bytes of what a person says are searched for such words: nobody
// buries them deep.
const mostHeard = 4000

// mayGiveUp reports whether words may give something up. It is far cheaper than the patterns.
func mayGiveUp(words string) bool {
	words = strings.ToLower(words)
	return holdsOne(words, verbStems) || holdsOne(words, planStems) && holdsOne(words, endStems) || holdsOne(words, otherStems)
}

// mayGiveUpAll reports the same of a plan as a whole.
func mayGiveUpAll(sentence string) bool {
	sentence = strings.ToLower(sentence)
	return holdsOne(sentence, verbStems) && holdsOne(sentence, objectStems) || strings.Contains(sentence, "start over") ||
		holdsOne(sentence, planStems) && holdsOne(sentence, endStems) || holdsOne(sentence, otherStems)
}

func holdsOne(words string, stems []string) bool {
	return slices.ContainsFunc(stems, func(s string) bool { return strings.Contains(words, s) })
}

// Parts of words in what gives something up: English verbs, what they are said of as a whole, nouns for a plan with what is
// said of one that ended, and the same in other languages.
var (
	verbStems = []string{
		"drop", "scrap", "forget", "abandon", "discard", "ditch", "scratch", "cancel", "shelve", "bin ", "kill", "stop", "skip", "leave", "throw", "mind", "no need", "start over",
		"park", "postpone", "defer", "hold off",
		"don't", "dont ", "do not", "won't", "no longer", "not ",
	}
	objectStems = []string{" that", " this", " it", " those", " these", " everything", " plan", " list", " todo", " to-do", " task", " step", " item", " idea", " approach"}
	planStems   = []string{"plan", "list", "approach", "all "}
	endStems    = []string{" off", " out", " dead", "obsolete", "void", "cancel", "longer", "change"}
	otherStems  = []string{
		"vergiss", "verwirf", "streich", "stopp", "lass", "verworfen", "hinfällig", "gestrichen", "vom tisch", "oublie", "laisse", "abandon", "olvida", "olvíd", "descarta", "deja", "cancela", "esque", "descarte", "lascia", "dimentica",
		"annulla", "scarta", "butta", "отмен", "забудь", "забей", "брос", "выкинь", "выбрось", "отброс", "оставь", "отка", "план", "放", "取", "不", "忘", "作", "丢", "算了", "計", "プ", "リ", "それ", "全", "계", "전", "그",
		"can wait", "needed", "off the table", "brauchen", "nécessaire", "falta", "serve", "нуж", "schritt", "spring", "saute", "passe", "étape", "omite", "salta", "paso", "pule", "шаг", "步", "跳", "项", "ステップ", "手順", "タスク", "단계", "번",
	}
)

// clauses returns the sentences of what a person typed that may give something up.
func clauses(words string) (out []string) {
	words = words[:min(len(words), mostHeard)]
	if !mayGiveUp(words) {
		return nil
	}
	for _, typed := range harness.Typed(words) {
		own := harness.Unquoted(typed)
		from := 0
		for i, r := range own + "\n" {
			if !strings.ContainsRune(".!?。！？\n", r) {
				continue
			}
			s := strings.TrimSpace(own[from:i])
			if from = min(i+utf8.RuneLen(r), len(own)); r == '?' || r == '？' {
				s += "?"
			}
			if s != "" && mayGiveUp(s) {
				out = append(out, s)
			}
		}
	}
	return out
}

// givesUpIn reports whether one of the sentences gives up what is planned as a whole.
func givesUpIn(sentences []string) bool {
	return slices.ContainsFunc(sentences, func(s string) bool {
		return mayGiveUpAll(s) && givesUp.MatchString(s) && !supposes.MatchString(s)
	})
}

// givenUpIn returns the words of the sentences that name what is no longer to be done: those behind the verb, up to the end of
// their clause, 3 to 120 bytes, or those before it.
func givenUpIn(sentences []string) (out []string) {
	for _, s := range sentences {
		var named []string
		end := 0
		for _, at := range dropsOne.FindAllStringIndex(s, -1) {
			if at[0] < end {
				continue
			}
			what := s[at[1]:]
			if i := strings.IndexAny(what, ".!?;,"); i >= 0 {
				what = what[:i]
			}
			if what = what[:min(len(what), 120)]; len(what) >= 3 {
				end = at[1] + len(what)
				named = append(named, what)
			}
		}
		for _, at := range dropsBefore.FindAllStringSubmatchIndex(s, -1) {
			named = append(named, s[at[2]:at[3]])
		}
		if len(named) > 0 && !supposes.MatchString(s) {
			out = append(out, named...)
		}
	}
	return out
}

// consents reports whether a person's words let a proposal be carried out.
func consents(words string) bool {
	return consent.MatchString(words) && !refusal.MatchString(words) && !givesUpIn(clauses(words))
}
