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
	out := map[string]bool{}
	for _, p := range strings.Split(list, "|") {
		out[p] = true
	}
	return out
}

// denies are the words before what is no longer so.
var denies = set("not|instead of|rather than|no longer|nicht|statt|anstatt|nicht mehr|pas|plutôt que|au lieu|no|en vez|en lugar|non|al posto|anziché|não|em vez|ao invés|не|вместо|а не|不是|而不是|ではなく|の代わり|대신|말고|아니라|et non|sondern|e não|y no|ya no|mais")

// purposes are the words before what something is for.
var purposes = set("for|für|pour|para|per|для")

// alone are the words that, at the end of a clause, leave out all else.
var alone = set("only|exclusively|alone|nur|ausschließlich|allein|seulement|uniquement|solo|sólo|solamente|únicamente|soltanto|solamente|unicamente|só|somente|apenas|только")

// bounds are the words that, at the end of a clause, limit it.
var bounds = set("at most|at least|max|maximum|minimum|tops|höchstens|maximal|mindestens|au maximum|au plus|au moins|maximum|como máximo|máximo|al massimo|no máximo|максимум")

// fresh are the words for what would come anew.
var fresh = set("new|additional|extra|external|further|please|neue|neuen|neuer|weitere|weiteren|externe|externen|zusätzlichen|nouvelle|nouvelles|nouveau|nouveaux|autre|autres|nueva|nuevas|nuevo|nuevos|más|nuova|nuove|nuovo|nuovi|altra|nova|novas|novo|novos|новых|новые|новой|новая|新的|新しい|새로운")

// hence are the words before what follows from what was said: a noun that is not wanted may
// stand behind them.
var hence = set("so|therefore|hence|daher|deshalb|also|donc|así|quindi|então|поэтому|所以|だから|그래서")

// nothing are the words behind a verb that forbid it.
var nothing = set("nothing|no|none|nichts|kein|keine|keinen|rien|aucun|aucune|nada|niente|ничего")

// relative are the words that begin a clause about the noun before them.
var relative = set("that|which|whose|qui|que|lequel|laquelle|che|который|которая|которое|которые")

// yet are the words at the end of an order that hold it back for a while only.
var yet = set("yet|noch nicht|encore|todavía|aún|ancora|ainda|пока")
