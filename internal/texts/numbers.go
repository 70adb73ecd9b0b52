package texts

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Separators of thousands and of decimals.
const (
	thinSpace = "\u202f" // non-breaking
)

func marksOf(lang string) (group, point string) {
	if lang == "fr" {
		return thinSpace, ","
	}
	return ",", "."
}

// Number writes n with separated thousands in the format of a language: 12,345,678.
func Number(lang string, n int) string {
	group, _ := marksOf(lang)
	digits, minus := strings.CutPrefix(strconv.Itoa(n), "-")
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + group + digits[i:]
	}
	if minus {
		return "-" + digits
	}
	return digits
}

// decimal writes x with the given number of decimal places.
func decimal(lang string, x float64, places int) string {
	return Decimal(lang, strconv.FormatFloat(x, 'f', places, 64))
}

// Decimal converts a number with an English decimal point and no thousands separators to the
// decimal mark of a language.
func Decimal(lang, number string) string {
	_, point := marksOf(lang)
	return strings.Replace(number, ".", point, 1)
}

// Percent writes a share: 62 %, or 4.6 % where one decimal place matters.
func Percent(lang string, p float64) string {
	switch {
	case p > 0 && p < 0.05:
		return "<" + decimal(lang, 0.1, 1) + " %"
	case p == 0, math.Abs(p) >= 9.95:
		return decimal(lang, p, 0) + " %"
	}
	return decimal(lang, p, 1) + " %"
}

// Dollars writes an amount of money: $12.40, $0.043.
func Dollars(lang string, usd float64) string {
	switch {
	case usd < 0:
		return "-" + Dollars(lang, -usd)
	case usd == 0 || usd >= 0.995:
		return Amount(lang, usd, 2)
	case usd < 0.0001:
		return "<" + Amount(lang, 0.0001, 4)
	}
	places := 2
	for x := usd; x < 0.0995; x *= 10 {
		places++
	}
	return Amount(lang, usd, places)
}

// Amount writes an amount of money with the given number of decimal places.
func Amount(lang string, usd float64, places int) string {
	if lang == "fr" {
		return decimal(lang, usd, places) + "\u00a0$"
	}
	return "$" + decimal(lang, usd, places)
}

// Short writes n in a short form: 950, 4.2 k, 48 k, 1.2 M.
func Short(lang string, n int) string {
	switch {
	case n >= 1_000_000:
		return decimal(lang, float64(n)/1e6, 1) + " M"
	case n >= 10_000:
		return decimal(lang, float64(n)/1e3, 0) + " k"
	case n >= 1000:
		return decimal(lang, float64(n)/1e3, 1) + " k"
	}
	return strconv.Itoa(n)
}

// Unknown replaces an unknown number.
const Unknown = "?"

// Known writes a number that may be unknown: nil becomes [Unknown].
func Known(lang string, n *int) string {
	if n == nil {
		return Unknown
	}
	return Number(lang, *n)
}

// counted is a number in a text, formatted for its language.
type counted struct {
	lang string
	n    int
}

// Format writes it for any verb of whole numbers.
func (c counted) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(Number(c.lang, c.n))) }
