package rules

import (
	"strings"
	"sync"
)

// The words that show what an agent is to keep to while it works. Those of all languages that part words by spaces stand in one table,
// as few of them mean something else in another.

// cue is what a word may show of such a rule, in bits.
type cue uint64

const (
	small     cue = 1 << iota // how small: "minimal", "fewest"
	little                    // the same, where the order says that it is a limit: "small"
	changes                   // what an agent makes of what is there: "changes", "diff"
	files                     // what it makes them to
	changing                  // an order to change something
	amount                    // before a number: "at most", "exactly"
	times                     // how often: "once"
	act                       // what an agent does, and can be counted: "command", "question"
	messaging                 // what is said to it, or comes back: "message", "error"
	guiding                   // what it is guided by: "instructions"
	ranking                   // says that one goes before another: "override"
	universal                 // leaves nothing out: "any", "all others"
	unable                    // says what somebody cannot do
	timed                     // before the time or the condition of it: "until", "after"
	ours                      // the person who speaks
	going                     // goes on with the work, or hands it in: "continue", "push"
	parting                   // an order to do something in parts
	within                    // before the parts: "into"
	labors                    // what the work is made of: "tasks"
	meanwhile                 // while the work goes on: "as you go"
	ranked                    // an order to put one thing before another: "prioritize"
	before                    // stands between the two: "over"
	manner                    // how somebody works: "thorough"
	acting                    // an order to be in some way: "be"
	favored                   // says at the end that something is liked better: "preferred"
	utmost                    // as far as it can be done: "as possible"
	enough                    // what is needed: "necessary"
	sole                      // one and no more, of what is done at a time: "a single"
	atOnce                    // how much is done before the next: "at a time"
	laboring                  // an order to work in some way: "proceed"
	stepwise                  // in small parts: "step by step"
	quality                   // what is liked of work: "clarity"
	thoughts                  // what stands behind the work: "assumptions"
	thinking                  // an order to prepare what is done: "plan"
	alike                     // leaves all else, at the end: "nothing else"
)

// cued is a phrase with its cue.
type cued struct {
	words []string
	cue   cue
}

// begins reports whether a phrase begins tokens.
func (p cued) begins(tokens []token) bool {
	if len(p.words) > len(tokens) {
		return false
	}
	for i, w := range p.words {
		if tokens[i].text != w {
			return false
		}
	}
	return true
}

// cuesOf returns the cues of tokens, and all of them together. A phrase has its cue at its first word.
func cuesOf(tokens []token) (marks []cue, seen cue) {
	marks = make([]cue, len(tokens))
	table := cueing()
	for i, t := range tokens {
		for _, p := range table[t.text] {
			if p.begins(tokens[i:]) {
				marks[i] |= p.cue
			}
		}
		seen |= marks[i]
	}
	return marks, seen
}

// cueOf returns the cue of a word.
func cueOf(word string) (of cue) {
	for _, p := range cueing()[word] {
		if len(p.words) == 1 {
			of |= p.cue
		}
	}
	return of
}

// cueing returns the phrases with cues by their first word.
var cueing = sync.OnceValue(func() map[string][]cued {
	out := map[string][]cued{}
	for c, list := range map[cue]string{
		small:     "light|lightest|tiny|tiniest|slim|slimmest|lean|leanest|winzige|winzigen|strictly|strict|estrictamente|strettamente|estritamente|unbedingt|строго|wenigen|kleinen|geringen|möglichst wenige|minor|minore|минимальными|little|wenige|minimal|minimum|smallest|least|few|fewest|focused|targeted|surgical|narrow|minimale|minimalen|kleinste|kleinsten|kleinstmögliche|kleinstmöglichen|wenig|minimes|minimales|minimaux|moins|strict minimum|mínimos|mínimas|mínimo|mínima|menos|menor|minime|minimi|minimo|meno|минимальные|минимальное|минимальных|минимум|меньше",
		little:    "small|klein|kleine|petit|petits|petites|pequeño|pequeños|pequeñas|piccole|piccoli|pequenas|pequenos|небольшие|небольшими|limited|begrenzt",
		changes:   "изменениями|fix|footprint|change|changes|edit|edits|diff|diffs|patch|patches|modification|modifications|änderung|änderungen|eingriffe|changement|changements|cambio|cambios|modificación|modificaciones|modifica|modifiche|cambiamenti|mudança|mudanças|alteração|alterações|изменение|изменения|изменений|правки|правок",
		files:     "file|files|code|sources|modules|dateien|quellen|nicht-test-dateien|fichiers|archivos|ficheros|arquivos|ficheiros|файлы",
		changing:  "do|mach|fais|faites|haz|fai|faça|делай|lavora|arbeite|travaille|trabaja|trabalhe|работай|interviens|change|edit|modify|touch|alter|ändere|ändern|bearbeite|bearbeiten|editiere|berühre|fass|fasse|rühr|rühre|modifie|modifiez|touche|touchez|changez|édite|éditez|modifica|modifique|toca|toque|cambia|cambie|edita|edite|tocca|tocchi|modifichi|altera|altere|mexa|mexe|mude|muda|меняй|меняйте|правь|правьте|трогай|трогайте|изменяй|редактируй",
		amount:    "pas plus de|nicht mehr als|no más de|non più di|não mais de|at least|at most|exactly|no more than|not more than|max|maximum|a maximum of|up to|mindestens|höchstens|genau|maximal|au moins|au plus|au maximum|exactement|al menos|como máximo|exactamente|como mucho|almeno|al massimo|esattamente|pelo menos|no máximo|exatamente|не более|не больше|ровно|максимум|хотя бы",
		times:     "once|twice|one time|two times|einmal|zweimal|une fois|deux fois|una vez|dos veces|una volta|due volte|uma vez|duas vezes|один раз|одного раза|дважды|двух раз",
		act:       "коммит|коммита|коммитов|herramienta|herramientas|outil|outils|werkzeug|werkzeuge|strumento|strumenti|ferramenta|ferramentas|инструмент|command|commands|tool|tools|call|calls|question|questions|commit|commits|attempt|attempts|action|actions|step|steps|befehl|befehle|aufruf|aufrufe|frage|fragen|versuch|versuche|commande|commandes|appel|appels|tentative|tentatives|comando|comandos|llamada|llamadas|pregunta|preguntas|intento|intentos|comandi|domanda|domande|chiamata|chiamate|tentativo|tentativi|pergunta|perguntas|chamada|chamadas|tentativa|tentativas|команда|команду|команды|команд|вопрос|вопроса|вопросов|попытки|попыток",
		messaging: "thing|sache|chose|cosa|coisa|дело|mistake|mistakes|typo|secret|conflict|failure|requirement|package|library|step|paket|paketes|schritt|schritte|paquet|outil|étape|paquete|herramienta|tarea|pacchetto|strumento|passo|pacote|tarefa|пакет|инструмент|шаг|функцию|query|queries|search|searches|message|messages|nachricht|nachrichten|mensaje|mensajes|messaggio|messaggi|mensagem|mensagens|сообщение|сообщения|bug|bugs|error|errors|problem|problems|fehler|erreur|erreurs|errores|errore|errori|erro|erros|ошибку|ошибка",
		guiding:   "policy|policies|training|preferences|preference|wishes|wünsche|préférences|preferencias|preferenze|preferências|предпочтения|directrices|lineamientos|wiki|docs|documentation|convention|conventions|konventionen|dokumentation|documentación|convenciones|documentazione|convenzioni|documentação|convenções|документации|соглашений|instruction|instructions|rule|rules|guideline|guidelines|directive|directives|direction|directions|notes|message|prompt|constraint|constraints|principles|guide|readme|manual|anweisung|anweisungen|vorgaben|regeln|hinweise|vorschriften|consigne|consignes|règle|règles|principes|instrucción|instrucciones|norma|normas|regla|reglas|indicación|indicaciones|pautas|istruzione|istruzioni|regola|regole|indicazioni|instrução|instruções|regra|regras|diretrizes|orientações|указания|указаний|правила|правил|инструкции|инструкций",
		ranking:   "prevalecen|prévalent|prevalgono|prevalecem|takes precedence|takes priority|comes first|hat vorrang|geht vor|prime|prévaut|prevalece|tiene prioridad|ha la precedenza|tem prioridade|prevale|remplacent|ersetzen|sustituyen|reemplazan|sostituiscono|substituem|заменяют|beat|beats|outrank|outranks|outweigh|outweighs|win over|wins over|win|wins|gelten vor|schlagen|stehen vor|passent avant|priment|se imponen a|están por encima|vincono su|valgono più|valem mais|главнее|take precedence|take priority|come first|haben vorrang|gehen allem|ont priorité|ont la priorité|tienen prioridad|hanno la precedenza|têm prioridade|take precedence over|takes precedence over|take priority over|takes priority over|have priority over|has priority over|have precedence over|prevail over|prevails over|prevail|override|overrides|overrule|overrules|supersede|supersedes|trump|trumps|hat vorrang|gehen vor|gehen allen|stehen über|überschreiben|prévalent sur|prévaut sur|priment sur|prime sur|l emportent sur|emportent sur|emporte sur|ont priorité sur|ont la priorité sur|prennent le pas sur|prevalecen sobre|prevalece sobre|tienen prioridad sobre|tiene prioridad sobre|tienen precedencia|priman sobre|anulan|prevalgono su|prevale su|hanno la precedenza su|hanno la priorità su|hanno priorità su|hanno precedenza su|prevalecem sobre|têm prioridade sobre|têm precedência sobre|sobrepõem-se|se sobrepõem a|имеют приоритет|имеет приоритет|важнее|превалируют над",
		universal: "rest|else|reste|resto|allem|остальным|any|all|every|everything|anything|other|others|default|defaults|previous|earlier|whatever|allen|alle|alles|anderen|andere|jede|toute|tout|toutes|tous|autre|autres|cualquier|cualquiera|todas|todos|todo|otras|otra|tutte|tutti|tutto|altra|altre|qualsiasi|ogni|qualquer|todas as|outras|outra|tudo|всеми|всех|всему|всё|другими|других|остальными|любыми|любых",
		unable:    "du kannst erst|sie können erst|you cannot|you can't|you can not|you cant|du kannst nicht|sie können nicht|kannst du nicht|können sie nicht|tu ne peux|vous ne pouvez|ne peux|ne pouvez|no puedes|no podéis|non puoi|non potete|você não pode|não podes|ты не можешь|вы не можете|тебе нельзя",
		timed:     "wenn|after|until|till|before|while|unless|once|bis|bevor|ehe|solange|nachdem|während|nach|avant|tant que|jusqu'à|jusqu'à ce que|après|pendant|hasta|antes|mientras|después|finché|prima|mentre|dopo|fino|até|enquanto|depois|пока|до|прежде|после",
		ours:      "i|i've|i'm|me|my|ich|mir|mein|meine|je|j|mon|ma|yo|mi|io|mio|mia|ho|eu|meu|minha|я|мне|мой|моего",
		going:     "continue|proceed|commit|push|merge|deploy|submit|release|publish|weitermachen|fortfahren|pushen|committen|mergen|deployen|abgeben|veröffentlichen|continuer|pousser|committer|fusionner|déployer|hacer commit|hacer push|subir|continuar|fusionar|desplegar|fare commit|fare push|continuare|proseguire|pubblicare|fazer commit|fazer push|enviar|publicar|пушить|коммитить|мержить|деплоить|продолжать",
		parting:   "group|combine|bundle|fasse|regroupe|agrupa|raggruppa|agrupe|группируй|chop|cut|carve|slice|separate|split|break|break down|divide|decompose|batch|zerlege|zerlegen|teile|unterteile|gliedere|découpe|découpez|divise|divisez|décompose|décomposez|fractionne|divida|descompón|descomponga|separa|dividi|scomponi|suddividi|decomponha|quebre|separe|разбивай|разбивайте|дели|разделяй",
		within:    "into|in|en|à|em|на|sous",
		labors:    "tasks|work|problems|jobs|changes|commits|functions|classes|refactorings|features|rewrites|migrations|prs|aufgaben|arbeit|arbeiten|probleme|änderungen|funktionen|tâches|travaux|problèmes|modifications|fonctions|tareas|trabajos|problemas|cambios|funciones|attività|compiti|lavori|problemi|modifiche|funzioni|tarefas|trabalhos|funções|задачи|проблемы|изменения|функции|работу",
		meanwhile: "as you go|as you work|as you proceed|as you progress|as we go|while you work|while working|along the way|unterwegs|fortlaufend|laufend|au fur et à mesure|en cours de route|sobre la marcha|a medida que|man mano|strada facendo|à medida que|ao longo do caminho|pelo caminho|по ходу|попутно",
		ranked:    "prioritize|prioritise|favor|favour|privilegiere|priorisiere|favorise|favorisez|privilégie|privilégiez|priorise|priorisez|prioriza|priorice|privilegia|favorece|favorisci|prediligi|priorize|privilegie|favoreça|отдавай",
		before:    "beats|trumps|statt|anstatt|over|above|before|rather|gegenüber|vor|über|sur|à|au|plutôt|avant|sobre|ante|antes|frente|rispetto|su|sulla|sul|anziché|em|ao|над|перед|выше|вместо",
		acting:    "be|sei|seien sie|seid|sois|soyez|sé|sea|sii|sia|seja|будь|будьте",
		manner:    "frank|candid|strict|disciplined|factual|neutral|polite|thorough|efficient|concise|precise|rigorous|honest|direct|succinct|frugal|economical|sparing|pragmatic|proactive|systematic|methodical|conservative|critical|meticulous|terse|brief|creative|realistic|gründlich|effizient|genau|sparsam|knapp|kurz|ehrlich|direkt|systematisch|kritisch|präzise|konsequent|efficace|efficaces|rigoureux|rigoureuse|précis|précise|concis|économe|méthodique|honnête|exhaustif|eficiente|minucioso|minuciosa|preciso|precisa|conciso|concisa|breve|riguroso|rigurosa|exhaustivo|honesto|metódico|efficiente|rigoroso|rigorosa|accurato|meticoloso|onesto|completo|objetivo|detalhista|cuidadoso|внимателен|внимательным|точен|точным|краток|кратким|эффективен|экономным|честен|дотошным",
		utmost:    "as you can|as we can|wie du kannst|wie nur geht|que tu peux|que puedas|que puoi|que puder|как сможешь|as possible|wie möglich|possible|posible|possibile|possível|как можно",
		thoughts:  "reasoning|assumptions|sources|thinking|thought|thoughts|decisions|findings|reasons|work|steps|annahmen|quellen|gedanken|überlegungen|entscheidungen|hypothèses|sources|raisonnement|décisions|suposiciones|fuentes|razonamiento|decisiones|ipotesi|fonti|ragionamento|decisioni|suposições|fontes|raciocínio|decisões|предположения|источники|рассуждения|решения",
		thinking:  "think|plan|look|reflect|read|measure|denk|denke|überlege|plane|réfléchis|réfléchissez|planifie|piensa|piense|planifica|pensa|pianifica|pense|planeje|думай|подумай|планируй",
		alike:     "nothing else|nothing more|sonst nichts|nichts anderes|nichts sonst|rien d autre|rien de plus|nada más|nient'altro|nada mais|больше ничего|и только",
		enough:    "necessary|needed|required|nötige|notwendige|nécessaire|necesario|necessario|necessário|необходимое",
		sole:      "one|a single|just one|only one|nur ein|nur eine|nur einen|einen|une seule|un seul|un solo|una sola|un único|uma única|um único|apenas um|apenas uma|só um|только одна|только один|только одну|одна|один",
		atOnce:    "at a time|at once|zur zeit|auf einmal|à la fois|a la vez|por vez|de cada vez|alla volta|per volta|за раз|зараз",
		laboring:  "communicate|commit|test|iterate|experiment|kommuniziere|teste|arbeite dich|communique|communiquez|comunica|comunique|comunícate|коммить|work|proceed|think|go|arbeite|arbeiten sie|geh|gehe|mach|denke|travaille|travaillez|procède|procédez|avance|avancez|réfléchis|trabaja|trabaje|avanza|procede|piensa|lavora|procedi|ragiona|trabalhe|trabalha|prossiga|pense|работай|действуй|иди|двигайся|думай",
		stepwise:  "one by one|one at a time|eins nach dem anderen|nacheinander|un par un|une par une|uno por uno|una por una|uno a uno|uno alla volta|uno per uno|um por um|um de cada vez|по одному|con calma|com calma|avec calme|calmement|in ruhe|спокойно|autonomously|independently|on your own|clearly|carefully|slowly|often|early|patiently|methodically|systematically|selbstständig|selbständig|eigenständig|sorgfältig|langsam|methodisch|oft|klar|de façon autonome|de manière autonome|avec soin|lentement|souvent|clairement|méthodiquement|de forma autónoma|de manera autónoma|con cuidado|despacio|a menudo|con claridad|in autonomia|in modo autonomo|con cura|lentamente|spesso|chiaramente|de forma autônoma|com cuidado|devagar|com frequência|claramente|самостоятельно|аккуратно|внимательно|медленно|часто|осторожно|step by step|one step at a time|in small steps|in small increments|incrementally|schritt für schritt|schrittweise|in kleinen schritten|pas à pas|étape par étape|par petites étapes|par étapes|paso a paso|en pasos pequeños|en pequeños pasos|por pasos|a piccoli passi|passo dopo passo|un passo alla volta|passo a passo|em pequenos passos|em passos pequenos|шаг за шагом|маленькими шагами|небольшими шагами|по шагам|пошагово",
		quality:   "quality|clarity|simplicity|simple|readability|readable|correctness|safety|security|robustness|brevity|accuracy|explicit|composition|consistency|qualität|klarheit|einfachheit|einfache|lesbarkeit|korrektheit|sicherheit|qualité|clarté|simplicité|lisibilité|sécurité|calidad|claridad|sencillez|simplicidad|legibilidad|seguridad|qualità|chiarezza|semplicità|leggibilità|sicurezza|qualidade|clareza|simplicidade|legibilidade|segurança|качество|ясность|простота|читаемость|безопасность",
		favored:   "de préférence|vorzugsweise|de preferencia|de preferência|if possible|where possible|wenn möglich|si possible|si es posible|se possibile|se possível|по возможности|если можно|preferred|bevorzugt|préféré|préférée|préférés|préférées|preferido|preferida|preferidos|preferidas|preferiblemente|preferito|preferita|preferibilmente|preferencialmente|предпочтительно|предпочтителен",
	} {
		for _, one := range strings.Split(list, "|") {
			words := strings.Fields(one)
			out[words[0]] = append(out[words[0]], cued{words, c})
		}
	}
	return out
})
