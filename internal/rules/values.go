package rules

import "strings"

// values are the words that stand for a value of which there is one: small numbers and the
// names of languages, by what they mean.
var values = func() map[string]string {
	out := map[string]string{}
	for meaning, words := range map[string]string{
		"1": "one eins", "2": "two zwei deux dos due dois две два", "3": "three drei trois tres tre três три", "4": "four vier quatre cuatro quattro quatro четыре", "5": "five fünf cinq cinco cinque пять",
		"6": "six sechs seis sei шесть", "8": "eight acht huit ocho otto oito восемь", "10": "ten zehn dix diez dieci dez десять", "20": "twenty zwanzig", "30": "thirty dreißig", "60": "sixty",
		"English": "english englisch anglais inglés inglese inglês английском по-английски", "German": "german deutsch allemand alemán tedesco alemão немецком по-немецки", "French": "french französisch français francés francese francês французском по-французски",
		"Spanish": "spanish spanisch espagnol español spagnolo espanhol испанском", "Italian": "italian italienisch italien italiano итальянском", "Portuguese": "portuguese portugiesisch portugais portugués portoghese português",
		"Russian": "russian russisch russe ruso russo русском по-русски", "Chinese": "chinese chinesisch chinois chino cinese chinês китайском", "Japanese": "japanese japanisch japonais japonés giapponese japonês японском", "Korean": "korean koreanisch",
	} {
		for _, w := range strings.Fields(words) {
			out[w] = meaning
		}
	}
	return out
}()

// set returns the phrases of a list.
func set(list string) map[string]bool {
	out := make(map[string]bool, strings.Count(list, "|")+1)
	for p := range strings.SplitSeq(list, "|") {
		out[p] = true
	}
	return out
}

// denies are the words before what is no longer so.
var denies = set("not|instead of|rather than|no longer|nicht|statt|anstatt|nicht mehr|pas|plutôt que|au lieu|no|en vez|en lugar|non|al posto|anziché|não|em vez|ao invés|не|вместо|а не|不是|而不是|ではなく|の代わり|대신|말고|아니라|et non|sondern|e não|y no|ya no|mais")

// purposes are the words before what something is for.
var purposes = set("for|für|pour|para|per|для")

// alone are the words that, at the end of a clause, leave out all else.
var alone = set("einzig|lediglich|only|exclusively|alone|nur|ausschließlich|allein|seulement|uniquement|solo|sólo|solamente|únicamente|soltanto|solamente|unicamente|só|somente|apenas|только")

// bounds are the words that, at the end of a clause, limit it.
var bounds = set("no more than|not more than|nicht mehr als|pas plus de|no más de|non più di|não mais de|не более|не больше|at a time|at most|at least|max|maximum|minimum|tops|höchstens|maximal|mindestens|au maximum|au plus|au moins|maximum|como máximo|máximo|al massimo|no máximo|максимум")

// fresh are the words for what would come anew.
var fresh = set("new|additional|extra|external|further|please|neue|neuen|neuer|weitere|weiteren|externe|externen|zusätzlichen|nouvelle|nouvelles|nouveau|nouveaux|autre|autres|nueva|nuevas|nuevo|nuevos|más|nuova|nuove|nuovo|nuovi|altra|nova|novas|novo|novos|новых|новые|новой|новая|新的|新しい|새로운")

// hence are the words before what follows from what was said: a noun that is not wanted may
// stand behind them.
var hence = set("so|therefore|hence|thus|consequently|that's why|that is why|which is why|daher|deshalb|darum|also|donc|así|así que|por eso|por lo tanto|quindi|perciò|dunque|então|portanto|por isso|поэтому|так что|所以|だから|그래서")

// nothing are the words behind a verb that forbid it.
var nothing = set("nothing|no|none|nichts|kein|keine|keinen|rien|aucun|aucune|nada|niente|ничего")

// relative are the words that begin a clause about the noun before them.
var relative = set("that|which|whose|qui|que|lequel|laquelle|che|который|которая|которое|которые")

// yet are the words at the end of an order that hold it back for a while only.
var yet = set("yet|noch nicht|encore|todavía|aún|ancora|ainda|пока")

// checks are the words before what is to be looked at, which may be a state to be reached once.
var checks = set("确保|確保|保证|make sure|make certain|make sure that|ensure|ensure that|be sure that|see to it|see to it that|take care that|stell sicher|stelle sicher|stellen sie sicher|assure-toi|assurez-vous|asegúrate|assicurati|certifique-se|garanta|assure-toi que|assurez-vous que|asegúrate de que|asegúrese de que|assicurati che|certifique-se de que|garanta que")

// with are the words before the means by which something is to be done.
var with = set("with|using|via|mit|avec|con|com|с")

// urges are the words that, behind a noun that is not wanted, ask for it.
var urges = set("please|pls|thanks|bitte|s'il te plaît|s'il vous plaît|por favor|per favore|пожалуйста")

// ourselves are the words for those who speak, with the agent among them.
var ourselves = set("we|we still|we also|wir|nous|nosotros|nosotras|noi|nós|мы|我们")

// yours are the words for what is the agent's own.
var yours = set("your|dein|deine|deinen|ihr|ton|ta|tes|votre|vos|tus|su|sus|tuo|tua|tuoi|tue|seu|sua|seus|suas|твой|твоя|твои|ваш|ваши")

// wished are the verbs of a wish in the form of a condition that stand by themselves, and done those
// that do if it says of what.
var (
	wished = set("evitaras|evitases|evitara|evites|evitasse|evite|evitassi|evitasses|évitais|évites|kept|stayed|avoided|stuck|left|limited|refrained|remained|continued|respected")
	done   = set("preguntaras|preguntases|preguntes|consultaras|avisaras|avises|demandes|demandais|préviennes|perguntasse|avisasse|chiedessi|avvisassi|fragst|fragtest|спрашивал|спросил|предупредил|asked|used|wrote|ran|answered|replied|checked|told|spoke|named|put|showed|explained|added|committed|worked|didn't|did")
)

// doing are the verbs of a wish that stand behind "would you mind".
var doing = set("keeping|avoiding|sticking|leaving|staying|limiting|refraining")

// conventional are the verbs with which somebody says where things belong.
var conventional = set("happen|go|goe|live|belong|stay|start|begin|end|come")

// modals are the words between who is wished for to do something and the verb.
var modals = set("wenn|falls|could|can|would|will|might|to|please|just|both|all|we|you|we could|you could|that|if|maybe|possibly|try to|try|rather|always")

// states are the verbs that say how something is, whatever may be denied of it.
var states = set("fail|crash|care|matter|worry|mind|know|see|think|get|understand|work|need|have|find")

// permissions are the beginnings of the words that say what is allowed.
var permissions = strings.Fields("may allow forbid prohib permit limit accept welcome option banned darf dürf erlaub verbot gestatt interdit défend vietat proibi запрещ нельзя допуст разреш 禁 得 准 许 允许 可")

// adding are the words before something else that is to hold.
var adding = set("as mentioned|as mentioned before|as mentioned above|as mentioned earlier|as i said|as i said before|as said|as discussed|as agreed|like i said|and again|again|ps|p.s|heads up|heads-up|reminder|also|plus|furthermore|moreover|additionally|one more thing|another thing|außerdem|zudem|ferner|de plus|aussi|además|también|inoltre|anche|além disso|também|кроме того|также|另外|还有|また|それと|또한|또")

// inverting are the prohibitions that stand between what they are about and their verb.
var inverting = set("не|nicht")

// together are the beginnings of questions whether those who speak and the agent do something.
var together = set("can we|could we|shall we|should we")

// ever are the words at the end of a statement that make a rule of it.
var ever = set("always|ever|never|every time|each time|without exception|no exceptions|immer|stets|nie|ausnahmslos|toujours|jamais|sans exception|siempre|sin excepción|sempre|senza eccezioni|sem exceção|всегда|никогда|без исключений")

// denying are the auxiliary verbs of a wish that something be not so.
var denying = set("didn't|wouldn't|don't|won't|did not|would not|do not")

// unwanted are the wishes that something be not there.
var unwanted = set("i don't want|i do not want|we don't want|we do not want")

// himself are the words for what somebody would have to do without a program.
var himself = set("myself|by hand|manually|every time|each time|ourselves|again and again")

// timely are the words before a time that bounds what somebody wants to do.
var timely = set("before|after|past|earlier than|later than|vor|nach|avant|après|antes|después|prima|dopo|depois")

// overdoing are the verbs for doing more than is asked.
var overdoing = set("overengineer|overthink|overcomplicate|overdo|overexplain|overreach|gold-plate|goldplate")

// speaking are the words for the one who speaks, as who does something.
var speaking = set("i|ich|je|yo|io|eu|я")

// germanArticles are the articles behind which, in German, a verb in "t" has its subject.
var germanArticles = set("der|die|das|ein|eine|es|er|sie")

// differing are the words for more, or less, than a number, which bound nothing.
var differing = set("more than|less than|fewer than|mehr als|weniger als|plus de|moins de|más de|menos de|più di|meno di|mais de|больше|меньше")

// prefixes are the parts of German verbs that stand at the end.
var prefixes = set("an|auf|ab|um|weg|aus|ein|durch|zu")

// answering are the orders to answer, and inForm the words before how.
var (
	answering = set("answer|reply|respond|antworte|réponds|répondez|responde|rispondi|responda|отвечай|отвечайте")
	inForm    = set("in|with|as|like|auf|mit|en|avec|con|com|em|на|в")
)

// reflexive are the words for who is told, as the object of an order in German.
var reflexive = set("dich|dir|euch")

// theirs are the words for what is a part of a thing that was told of.
var theirs = set("its|their|his|her")

// altering are the verbs for changes that are none of what is there.
var altering = set("add|introduce|alter|restructure|refactor|rework|overhaul|mess|lose|exceed|depend|rely|replace|drop|see")

// addressed are the words for the speaker that stand before an order in some languages.
var addressed = set("me|mi|nos|ci")

// counted are the words for places that are told by their number.
var counted = set("line|page|section|chapter|row|part|zeile|seite|abschnitt|kapitel|ligne|page|chapitre|línea|página|sección|capítulo|riga|pagina|sezione|capitolo|linha|seção|строки|строка|страница|раздел|глава")

// aims are the words before what something is done for.
var aims = set("so that|in order to|damit|pour que|afin que|para que|affinché|чтобы")

// capping are the orders to put a limit to something.
var capping = set("limit|restrict|cap")

// single are the words that make a noun a single one that is known.
var single = set("the|this|that|der|die|das|den|le|la|l|el|lo|il|o|a")

// untils are the words before the end of what goes on.
var untils = set("until|till|bis|jusqu'à ce que|hasta que|finché|até que|пока")

// everywhere are the words for all places, at the end of what is said of a custom.
var everywhere = set("everywhere|throughout|überall|partout|en todas partes|ovunque|em todo lugar|везде")

// unmoved are the words at the end of a noun phrase that ask for something to be left as it is.
var unmoved = set("unchanged|untouched|as is|as-is|alone|intact|unverändert|inchangé|inchangée|intact|intacto|intacta|sin cambios|invariato|invariata|inalterado|inalterada|без изменений")

// per are the words that share out.
var per = set("per|pro|par|por|на")

// growing are the verbs for the size of something.
var growing = set("grow|exceed|drop|shrink|wachsen|dépasser|crecer|superar|superare|crescere|ultrapassar|crescer")

// seeing are the verbs for what comes to those who want it.
var seeing = set("view|read|access|download|see|get|have|sehen|haben|bekommen|voir|avoir|recevoir|ver|tener|recibir|vedere|avere|ricevere|ter|receber|видеть|получить")

// renewing are the verbs of changes that bring something new, or make public what is there.
var renewing = set("install|installed|commit|push|merge|deploy|publish|release|skip|installer|instalar|installare|installieren|pushen|committen|mergen|deployen|enviar|desplegar|устанавливать|установить")

// running are the verbs for a program at work, and whole the words for all of it.
var (
	running = set("run|work|function|build|compile")
	whole   = set("all|everything|it all|the whole")
)

// unmovedAt are the words behind "leave" for the place where something is.
var unmovedAt = set("current|where|there|existing|as")

// telltale are the words before what the speaker never or always does.
var telltale = set("nunca|jamás|mai|siempre|sempre|só|solo|sólo|somente")

// checking are the orders not to forget a step.
var checking = set("be sure to|remember to|take care to|please remember to|do remember to")

// customary are the words at the end of what is said of a custom of those who speak.
var customary = set("here|around here|in this project|in this repo|in this repository|in this codebase|in our project|in this company")

// budgeted are the words, before a colon, for the most that may be spent.
var budgeted = set("бюджет|бюджета|budget|my budget|our budget|max budget|limit|maximum|orçamento|presupuesto|бюджет")

// heldBack are the same verbs in languages that put no word before an infinitive.
var heldBack = set("bleiben|rester|quedarme|quedarnos|restare|rimanere|ficar|остаться|vermieden|vermeiden|behalten|beibehalten|éviter|garder|conserver|evitar|mantener|conservar|evitare|mantenere|conservare|manter|preservar|избежать|сохранить|оставить")

// needing are the orders that say of a thing that it is needed.
var needing = set("il faut|il faudra|bisogna|occorre|hay que|é preciso|нужно|нужен")

// managing are the verbs, before "without", for what somebody wants to do without.
var managing = set("stay|get|live|manage|do|go|make")

// contrasting are the words that join what stands against what was said.
var contrasting = set("but|aber|mais|pero|ma|mas|но")

// themselves are the words behind an order for who is to carry it out.
var themselves = set("toi-même|vous-même|selbst|tú mismo|yourself")

// later are the words behind "never" for when something does not happen.
var later = set("after|afterwards|before|later|since|danach|davor|später|seitdem|après|ensuite|avant|depuis|después|antes|luego|depois|dopo|poi|prima|потом|после|раньше")

// unwilling are the same as "I don't want to" in languages that put no word before an infinitive.
var unwilling = set("мы не хотим|я не хочу|не хотелось бы|мне не хотелось бы|мы бы не хотели|я бы не хотел|я бы не хотела")

// unsaid are the modal verbs whose subject need not be said, in its own language: what was told of.
var unsaid = set("debe|deben|deve|devono|devem|должен|должна|должны|должно")

// feasible are the words for what a program lets those do who use it.
var feasible = set("possible|möglich|posible|possibile|possível|возможно|возможность")

// happening are the verbs for what comes about by itself, in languages whose orders may have the same form.
var happening = set("desaparece|desaparecen|disparaît|disparaissent|scompare|sparisce|some|исчезнет|исчезает|sale|salta|sube|esce|compare|surge|sai|ocurre|sucede|pasa|aparece|acontece|ocorre|funciona|falla|falha|passa|succede|accade|appare|kommt|tritt|passiert|erscheint|arrive|apparaît|marche|бывает|происходит|возникает")

// us are the words for those who speak, as those who are to do something.
var us = set("us|me")

// holding are the verbs of a wish that something go on as it is.
var holding = set("keep|avoid|leave|stick|stick to|stick with|limit|restrict|refrain|refrain from|stay on|stay with|stay within|stay under|stay below|stay off|stay away|stay away from|stay out of|stay compatible|stay consistent|stay clear of|stay inside|stay in|stay at|remain|preserve")

// weak are the words that bind only where their subject leaves out all else: "nothing may change", "only small changes are ok".
var weak = set("may|are ok|are okay|is ok|is okay|are fine|is fine")

// leaving are the orders that leave all else as it is.
var leaving = set("only touch|only edit|only change|only modify|only commit|only push")

// all are the words for all that is there, which something may be done with once.
var all = set("all|all the|all of|alle|tous|toutes|todos|todas|tutti|tutte|все")

// former are the words for what was said or done before.
var former = set("again|remaining|last|previous|above|nochmal|letzte|letzten|encore|dernier|dernière|de nuevo|último|última|ancora|ultimo|ultima|снова")

// appearing are the verbs for what programs do before those who use them.
var appearing = set("show|display|hide|render|highlight|animate|collapse|expand|scroll|open|close|blink|zeige|zeig|verstecke|affiche|cache|masque|muestra|muestres|oculta|ocultes|mostra|mostrare|nascondere|nascondi|mostre|esconda|показывай|скрывай")

// keeping are the orders to keep something.
var keeping = set("preserve|maintain|keep|let's keep")

// saying are the verbs behind those whose words are told.
var saying = set("determined|concluded|detected|steht|heißt|says|said|states|stated|thinks|thought|claims|claimed|mentions|wrote|told|sagt|sagte|meint|dit|pense|dice|piensa|pensa|diz|disse|acha|говорит|сказал|сказала|думает|считает")

// sources are the words before whose words are told.
var sources = set("according to|laut|gemäß|selon|según|secondo|segundo|согласно")

// reminding are the orders not to forget something.
var reminding = set("don't forget|do not forget|dont forget")

// places are the words before the part at which something is to be done.
var places = set("am|im|beim|nel|nella|nas|nos|aux|around|above|below|under|between|inside|on|for|in|at|from|of|auf|für|bei|an|sur|dans|pour|en|para|su|per|em|na|no|на|для|в")

// subordinate are the words before what is to be made sure of.
var subordinate = set("that|dass|que|che|что|чтобы")

// obliging are the words for what must be, in scripts without spaces.
var obliging = set("ようにしてください|ようにして下さい|ようにすること|只能|只可|必须|必須|都要|都必须|都应该|都得|なければならない|なければなりません|なければいけません|なくてはならない|해야 합니다|해야 한다|해야 해|야 합니다|야 한다")

// doingWhat are the words before what somebody is to make sure of doing.
var doingWhat = set("to|de|d|di")

// explaining are the words before what explains a sentence before.
var explaining = set("i.e|e.g|that is|d.h|z.b|c'est-à-dire|es decir|cioè|ou seja|то есть|т.е")

// present are the words at the end of a prohibition that make it one for the present turn.
var present = set("now|jetzt|maintenant|ahora|adesso|agora|сейчас")
