package texts

import "testing"

func TestNumbers(t *testing.T) {
	nine := 9
	for got, want := range map[string]string{
		Number("en", 1234567): "1,234,567", Number("en", -1234): "-1,234", Number("ja", 12): "12", Number("fr", 35434): "35\u202f434", Number("fr", -1234567): "-1\u202f234\u202f567",
		Short("en", 950): "950", Short("en", 48210): "48 k", Short("en", 1200): "1.2 k", Short("fr", 1_200_000): "1,2 M",
		Dollars("en", 0.043): "$0.043", Dollars("en", 12.5): "$12.50", Dollars("en", 0.25): "$0.25", Dollars("en", 0): "$0.00", Dollars("en", -0.5): "-$0.50", Dollars("en", 0.00001): "<$0.0001",
		Dollars("fr", 0.043): "0,043\u00a0$", Percent("en", 62.4): "62 %", Percent("en", 4.25): "4.2 %", Percent("fr", 4.25): "4,2 %", Percent("en", 0): "0 %", Percent("en", 0.01): "<0.1 %",
		Known("en", nil): "?", Known("en", &nine): "9",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// Whole numbers in a text are written as its language does.
func TestNumbersInTexts(t *testing.T) {
	c := Catalog{"en": {"k": "%d of %s"}, "fr": {"k": "%d sur %s"}}
	if got := c.Text("fr", "k", 35434, "x"); got != "35\u202f434 sur x" {
		t.Errorf("%q", got)
	}
}
