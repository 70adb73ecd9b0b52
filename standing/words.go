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
	// dropsOne names what is given up behind the verb.
	dropsOne = lazyregexp.New(`(?i)(?:` + clauseStart + `(?:drop|scrap|forget(?: about)?|abandon|discard|ditch|cancel|skip|leave out|park|shelve|postpone|defer|hold off on)|\b(?:don'?t|do not|no longer) need|` +
		`(?:^|[\s,;])(?:überspring\w*|streich\w*|vergiss|oublie[zr]?|laisse[zr]? tomber|abandonne[zr]?|saute[zr]?|olvida(?:te)?(?: de)?|olvídate de|omite|salta(?:te)?|descarta|lascia perdere|dimentica|esque[çc]a|pule))\s+([^.!?;,\n]{3,120})`)
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
	return slices.ContainsFunc(stems, func(s string) bool { return strings.Contains(words, s) })
}

// stems are parts of words, one of which stands in whatever gives something up.
var stems = []string{
	"drop", "scrap", "forget", "abandon", "discard", "ditch", "scratch", "cancel", "shelve", "bin ", "kill", "stop", "skip", "leave", "throw", "mind", "no need", "start over", "change of plan", "plan", " is ", " are ", "don't", "dont ", "do not", "won't", "no longer", "not ",
	"park", "postpone", "defer", "hold off", "wait", "needed", "table", "brauchen", "nécessaire", "falta", "serve", "нуж", "step", "item", "point", "task", "schritt", "spring", "saute", "ignore", "passe", "étape", "omite", "salta", "paso", "pule", "шаг", "步", "跳", "项", "ステップ", "手順", "タスク", "단계", "번",
	"vergiss", "verwirf", "streich", "lass", "oublie", "laisse", "olvida", "olvíd", "descarta", "deja", "esque", "descarte", "lascia", "dimentica", "annulla", "scarta", "butta", "отмен", "забудь", "забей", "брос", "выкинь", "выбрось", "отброс", "оставь", "отка", "план", "放", "取", "不", "忘", "作", "丢", "算了", "計", "プ", "リ", "それ", "全", "계", "전", "그",
}

// clauses returns the sentences of what a person typed that say what is so now.
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
			if s != "" && !supposes.MatchString(s) {
				out = append(out, s)
			}
		}
	}
	return out
}

// gaveUp reports whether a person's words give up what is planned as a whole.
func gaveUp(words string) bool { return slices.ContainsFunc(clauses(words), givesUp.MatchString) }

// gaveUpOn returns the words in which a person names what is no longer to be done.
func gaveUpOn(words string) (out []string) {
	for _, s := range clauses(words) {
		for _, re := range []*lazyregexp.Regexp{dropsOne, dropsBefore} {
			for _, at := range re.FindAllStringSubmatchIndex(s, -1) {
				out = append(out, s[at[2]:at[3]])
			}
		}
	}
	return out
}

// consents reports whether a person's words let a proposal be carried out.
func consents(words string) bool {
	return consent.MatchString(words) && !refusal.MatchString(words) && !gaveUp(words)
}
