package overflow

import "github.com/precis-dev/precis/internal/lazyregexp"

// The classes of words that the rules combine. Texts are folded first.
const (
	// the room a request must fit in
	window = `(?:context (?:window|length|len|size|limit|budget|capacity|space)s?` +
		`|(?:n|num|max) ctx|ctx (?:size|len|length)|max (?:model|seq|sequence|context|ctx|position|input|prompt|total|num|message) (?:len|length|tokens?|embeddings)` +
		`|max(?:imum)? (?:allowed |supported |model |possible )*(?:prompt|input|sequence|model|context|conversation|message|token) (?:token |sequence )?(?:len|length|tokens|count|limit|window)` +
		`|max(?:imum)? (?:allowed )?(?:number of )?(?:input |prompt |total )tokens|maximum (?:allowed )?number of tokens|maximum tokens allowed|maximum allowed tokens` +
		`|models? (?:max(?:imum)? )?(?:token |input |prompt |sequence |context )?(?:limit|maximum)|(?:token|input|prompt) limit)`

	// what fills the room
	filling = `(?:prompts?|inputs?|messages?|conversation|chat|history|context|session|transcript|thread|dialogu?e?|query|question|sequence|text|tokens?)`

	// relations that mean "does not fit"
	beyond = `(?:exceed\w*|(?:long|larg|great|bigg|high)er than|more than|over the|above|beyond|surpass\w*|>=? ?~?\d)`

	// the words that state the conflict with the limit
	clash = `(?:` + beyond + `|too (?:long|large|big|many|small)|overflow\w*|overrun|(?:small|short)er than|(?:not|nt) fit|fit (?:in|into|within)` +
		`|out of|insufficient|not enough|(?:must|should|can|may) ?not (?:be )?(?:exceed|longer|larger|greater|more)|less than|fewer than|at most|no more than` +
		`|only (?:supports?|allows?|accepts?|has|\d)|however|but (?:the |your )?(?:you|request|prompt|input|messages|got|received)` +
		`|while|reached|full\b|(?:large|big) enough|>=|<=?|reduce|shorten|requested|resulted)`
)

// rules match texts about the window. One match suffices.
var rules = lazyregexp.All(
	// the maximum context length is 4096
	`(?:max(?:imum)?|models?) (?:\w+ ){0,3}?(?:context|prompt|input|sequence) (?:window |size |length |len )?(?:limit )?(?:is|of|:) ?(?:only |just )?\(?\d`,
	window+`[^!?]{0,120}?\b`+clash,
	clash+`[^!?]{0,120}?\b`+window,
	`[<>]=? ?`+window,

	// exceeds the context; the context overflows
	`\bcontext (?:\w+ ){0,2}(?:exceed|overflow|too (?:long|large|big)|is full)`,
	`(?:exceed\w*|overflow\w*|fit (?:in|into|within)|(?:larg|long)er than|out of) (?:the |this |your |available |maximum |allowed |models? )*context\b`,

	// the prompt is too long; too many tokens
	`\b(?:prompts?|inputs?|messages?|conversation|chat|history|query|question|text|transcript|session|thread|dialogu?e?) (?:[\w/]+ |\([^)]*\) ){0,5}?too (?:long|large|big)\b`,
	`\btoo (?:long|large|big) (?:an? )?(?:prompt|input|message|conversation)\b`,
	`\btoo many (?:\w+ ){0,2}tokens|\btokens? (?:\w+ ){0,4}?too (?:high|large|many|long)`,
	`\b(?:prompt|input|conversation|context|message|query|question) (?:length|size|tokens?|token count)(?: limit)?(?: was| has been)? exceeded|\btokens? exceeded`,

	// the tokens exceed the limit; the prompt has 9 tokens but the model takes 8
	`\b`+filling+`\b[^.;!?]{0,100}?`+beyond+
		`[^.;!?]{0,80}?(?:limit|max|allow|support|permit|capacity|model|\d tokens?)`,
	`\b`+filling+`\b[^.!?]{0,60}?\d (?:\w+ )?tokens?\b[^.!?]{0,60}?(?:\bbut|while|max|limit|only|support)`,
	`\d (?:\w+ )?tokens?\)?[,;:]? (?:but |while |and )?(?:the )?(?:limit|max)`,
	`\btokens? (?:count|length|number)[^.!?]{0,30}?\d[^.!?]{0,40}?(?:\bbut|while|max|limit|only|support)`,
	`\btokens? limits? (?:was |has been |is )?(?:exceeded|reached)|(?:exceed\w*|reached|over|beyond|hit) (?:the |your |its |of )?(?:\w+ ){0,3}tokens? limit`,
	`\bmax(?:imum)? tokens (?:of|limit of) \d+ (?:was |is )?exceeded`,

	// the tokens must be fewer than
	`(?:\binputs?|\bprompt|\btokens?|length of)\b[^.;!?]{0,80}?(?:must|should|may|can|has to|have to|needs? to|is|are) ?(?:not )?(?:be |have |contain )?(?:exceed|<|less than|fewer than|at most|(?:small|short|low)er than|under|no (?:more|longer|greater|larger) than)[^.;!?]{0,40}?\btoken`,
	`\btokens?\b[^.;!?]{0,80}?(?:must|should|may|can|has to|have to|needs? to) ?(?:not )?(?:be |have |contain )?(?:exceed|<|less than|fewer than|at most|(?:small|short|low)er than|under|no (?:more|longer|greater|larger) than)`,
	`\binput length should be \[`,
	`^code 1261$`,               // of Z.ai
	`must be at least 1, got -`, // what vLLM finds left for the output

	// too large with a limit in tokens; what to do about it
	`too (?:large|long|big)\b.{0,80}?(?:max|limit).{0,30}?\d+ tokens`,
	`\b(?:reduce|shorten|decrease|lower|trim|truncate) (?:down )?(?:the |your )?(?:(?:length|size) of )?(?:the |your )?(?:input |total )?(?:messages?|prompt|conversation|context|history|inputs?)\b`,
	`\b(?:shorter|smaller) (?:prompt|input|message|context|conversation|history)\b`,
	`\blength limit exceeded`,

	// limits in characters
	`\bmax(?:imum)? (?:input )?(?:characters|length of (?:the )?(?:current |your )?(?:question|prompt|input|query))`,
	`\b(?:message|prompt|input|question)s? (?:content |length )*(?:can ?not|must not|should not|may not) exceed`,
	`\bmalformed input request.*expected max length`,

	// Chinese, Japanese, Korean
	`(?:上下文|输入|提示词|prompt|tokens?|消息|对话|历史|文本|内容|问题|请求|会话)[^.;!]{0,24}?(?:超过|超出|超长|超限|过长|太长|过大|大于|溢出|上限)`,
	`(?:超过|超出|大于|超限)[^.;!]{0,24}?(?:上下文|最大长度|最大输入|最大 ?tokens?|token|输入|长度|字数|字符)`,
	`(?:コンテキスト|トークン|プロンプト|入力)[^.]{0,24}?(?:超え|超過|長すぎ|大きすぎ)|(?:컨텍스트|토큰|프롬프트|입력)[^.]{0,24}?(?:초과|너무)`,
)

// byteRules match errors about requests with too many bytes.
var byteRules = lazyregexp.All(
	`\b(?:request|payload|body|entity|content)(?: \w+){0,4}? too (?:large|big)`,
	`\b(?:request|payload|body|content)(?: \w+){0,3}? exceed\w*(?: \w+){0,5}? (?:size|bytes|limit:? \d+ ?(?:bytes|[kmg]i?b))`,
	`\b(?:request|payload|body) size exceed`,
	`\b(?:request|payload) body.{0,40}limit exceeded|too many total text bytes`,
)
