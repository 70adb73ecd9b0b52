package retain

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestShortenKeepsEndsAndRules(t *testing.T) {
	rule := "Never touch main.go."
	text := "BEGIN " + strings.Repeat("some words about the work. ", 40) + rule + strings.Repeat(" and more words about it.", 40) + " END"
	got := Shorten(text, 400, "m7.b1")
	for _, want := range []string{rule, "m7.b1", "left out"} {
		if strings.Count(got, want) != 1 {
			t.Errorf("%q stands %d times in %q", want, strings.Count(got, want), got)
		}
	}
	if !strings.HasPrefix(got, "BEGIN some") || !strings.HasSuffix(got, " END") {
		t.Errorf("the ends are gone: %q", got)
	}
	if got := Shorten(text, 400, ""); strings.Contains(got, "all of it") {
		t.Errorf("a handle without a handle: %q", got)
	}
	if got := Shorten(rule+" "+text, 400, ""); strings.Count(got, rule) != 1 {
		t.Errorf("a rule at the beginning is told twice: %q", got)
	}
	for _, most := range []int{len(text), len(text) + 1, 0, -5} {
		if Shorten(text, most, "m1") != text {
			t.Errorf("most %d: text was cut", most)
		}
	}
}

func TestShortenCountsCharacters(t *testing.T) {
	text := strings.Repeat("字", 1000)
	var left, gone int
	got := Shorten(text, 600, "m1")
	left = strings.Count(got, "字")
	_, after, _ := strings.Cut(got, "[… ")
	if _, err := fmt.Sscan(after, &gone); err != nil || left+gone != 1000 {
		t.Errorf("%d characters are there, %d are said to be gone (%v)", left, gone, err)
	}
}

// What two notes say was left out is all that is missing: a log that was pasted counts once.
func TestShortenCountsPastedTextOnce(t *testing.T) {
	log := "```\n" + strings.Repeat("2026-01-02T15:04:05Z INFO the worker has taken the next job\n", 300) + "```\n"
	for _, text := range []string{
		log + strings.Repeat("I would like to know why the worker is slow. ", 60),
		strings.Repeat("I would like to know why the worker is slow. ", 60) + "\n" + log + strings.Repeat("Please look into it today. ", 60),
	} {
		got := Shorten(text, 1500, "")
		notes := 0
		for _, m := range foldedNote.FindAllStringSubmatch(got, -1) {
			n, err := strconv.Atoi(m[1])
			if err != nil {
				t.Fatal(err)
			}
			notes += n
		}
		whole, there := utf8.RuneCountInString(text), utf8.RuneCountInString(foldedNote.ReplaceAllString(got, ""))
		if missing := whole - there; notes < missing-20 || notes > missing+20 { // line breaks around a note are counted or not
			t.Errorf("%d characters are missing, %d are said to be:\n%s", missing, notes, got)
		}
	}
}

// words of which random texts are made: rules, long and short, other scripts.
var sayings = []string{
	"Never touch main.go. ", "Always run make test! ", "不要修改主文件。", "必ずテストを書いてください。", "N'oublie jamais la virgule. ", "plain words ", "a\n", "- must stay\n",
	"é", "字", "🙂", "\n\n", "You must " + strings.Repeat("really ", 40) + "do it. ", strings.Repeat("x", 300), "12. only this\n",
}

func TestShortenIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(sayings), 0, 120).Draw(t, "text"), "")
		most := rapid.IntRange(1, 3000).Draw(t, "most")
		where := rapid.SampledFrom([]string{"", "m1", "m12345.b67"}).Draw(t, "where")
		got := Shorten(text, most, where)
		if len(text) <= most {
			if got != text {
				t.Fatal("short text was changed")
			}
			return
		}
		const note = 75 // what is said in between where there is no room for anything
		if len(got) > max(most+32, note) {
			t.Fatalf("%d bytes, %d were asked for: %q", len(got), most, got)
		}
		if !utf8.ValidString(got) {
			t.Fatalf("a character was cut: %q", got)
		}
		if where != "" && !strings.Contains(got, where) {
			t.Fatalf("no handle in %q", got)
		}
		head, rest, ok := strings.Cut(got, "\n[… ")
		if !ok || !strings.HasPrefix(text, head) || !strings.HasSuffix(text, rest[strings.LastIndex(rest, " …]\n")+len(" …]\n"):]) {
			t.Fatalf("%q does not begin and end as the text: %q", got, text)
		}
		if rules := Constraints(text); len(rules) > 0 && len(rules[0])+1 <= (most-len(where)-40)/2 && !strings.Contains(got, rules[0]) {
			t.Fatalf("the rule %q, which fits, is not in %q", rules[0], got)
		}
	})
}

func TestEndsStayInside(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		head, tail := Ends(text, rapid.IntRange(-3, 60).Draw(t, "head"), rapid.IntRange(-3, 60).Draw(t, "tail"))
		if !strings.HasPrefix(text, head) || !strings.HasSuffix(text, tail) || len(head)+len(tail) > len(text) || !utf8.ValidString(head+tail) {
			t.Fatalf("%q: %q and %q", text, head, tail)
		}
	})
}

func TestShortenCutsWhatWasPastedFirst(t *testing.T) {
	logs := map[string]func(i int) string{
		"stamped": func(i int) string {
			return fmt.Sprintf("2025-03-01T10:%02d:%02d INFO worker %d is alive, latency=%dms", i/60, i%60, i, i%90)
		},
		"access": func(i int) string {
			return fmt.Sprintf(`10.0.0.%d - - [01/Mar/2025] "GET /p/%d HTTP/1.1" 200 %d`, i%255, i, i*7)
		},
		"json":   func(i int) string { return fmt.Sprintf(`{"level":"info","n":%d,"msg":"tick"}`, i) },
		"tests":  func(i int) string { return fmt.Sprintf("--- PASS: TestPart%d (0.0%ds)", i, i%9) },
		"klog":   func(i int) string { return fmt.Sprintf("I0301 10:00:%02d.123456 %d pod.go:%d] synced", i%60, i, i) },
		"docker": func(i int) string { return fmt.Sprintf("api_1  | request %d took %d us", i, i*3) },
		"csv":    func(i int) string { return fmt.Sprintf("%d,item,%d.50,EUR", i, i) },
	}
	for name, line := range logs {
		for _, ask := range []string{"Which worker stalls, and why? Leave retry.go alone.", "どのワーカーが止まったのか調べてください。", "why so slow?"} {
			var log strings.Builder
			for i := range 300 {
				log.WriteString(line(i) + "\n")
			}
			for place, text := range map[string]string{"above": ask + "\n" + log.String(), "inside": log.String() + "\n" + ask + "\n" + log.String(), "below": log.String() + ask} {
				got := Shorten(text, 1500, "m3")
				if !strings.Contains(got, ask) || len(got) > 1500 || !strings.Contains(got, "all of it: m3") || !strings.Contains(got, line(0)) {
					t.Errorf("%s, %s: %d bytes\n%s", name, place, len(got), got)
				}
			}
		}
	}
	list := strings.Repeat("1. read the file of the day\n2. write what is new\n", 60)
	if spans := pasted(list); len(spans) > 0 {
		t.Errorf("a list that a person wrote is taken for pasted: %v", spans)
	}
	typed := strings.Repeat("These are words of mine, and there are many. ", 100)
	if got := Shorten(typed+"\n"+strings.Repeat("2025-03-01T10:00:00 INFO x\n", 100)+"BYE now", 600, "m3"); len(got) > 700 || strings.Contains(got, "INFO") || !strings.HasSuffix(got, "BYE now") {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}

// A line that a person typed into the middle of a log stays, though the log goes on at once.
func TestShortenKeepsALineWithinALog(t *testing.T) {
	var log strings.Builder
	for i := range 400 {
		fmt.Fprintf(&log, "2026-01-01T00:00:%02d INFO pump %d turned\n", i%60, i)
	}
	short := Shorten("What is wrong?\n"+log.String()+"Why does pump 17 stand still? Leave the valve alone.\n"+log.String(), 2000, "m1")
	if !strings.Contains(short, "Why does pump 17 stand still?") || len(short) > 2100 {
		t.Errorf("%d bytes:\n%s", len(short), short)
	}
}
