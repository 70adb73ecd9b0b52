package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store"
)

// converse stores a conversation and its record, and returns its nodes.
func (s *suite) converse(id string, msgs ...precis.Message) []precis.Fingerprint {
	s.Helper()
	at := nodes(msgs)
	s.put(store.Record{ID: id, Head: s.add(precis.Fingerprint{}, msgs...), Messages: len(msgs)})
	return at
}

func (s *suite) search(q store.SearchQuery) []store.Hit {
	s.Helper()
	found, err := need[store.Searcher](s).Search(s.ctx, q)
	if err != nil {
		s.Fatalf("Search %q: %v", q.Text, err)
	}
	for i, h := range found {
		if len(h.Snippet) > 300 || !utf8.ValidString(h.Snippet) || h.Score <= 0 || i > 0 && h.Score > found[i-1].Score {
			s.Errorf("%q: hit %d: %q, score %v", q.Text, i, h.Snippet, h.Score)
		}
	}
	return found
}

// wantHits compares hits, written as conversation:message, in any order.
func (s *suite) wantHits(text string, want ...string) {
	s.Helper()
	s.wantHitsOf(store.SearchQuery{Text: text}, want...)
}

func (s *suite) wantHitsOf(q store.SearchQuery, want ...string) {
	s.Helper()
	var got []string
	for _, h := range s.search(q) {
		got = append(got, fmt.Sprint(h.Conversation, ":", h.Message))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		s.Errorf("%+v: hits %q, want %q", q, got, want)
	}
}

func searchFinds(s *suite) {
	need[store.Searcher](s)
	result := func(blocks ...precis.Block) precis.Message {
		return precis.Message{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: "t", Content: blocks}}}
	}
	s.converse("a",
		user("Please fix the Bug in parser.go, line 42"),
		precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{precis.Text{Text: "Reading"}, precis.ToolUse{ID: "t", Name: "read", Input: json.RawMessage(`{"path":"src/pars\u0065r.go","n":[17,{"deep":"line\nbreak"}]}`)}}},
		result(precis.Text{Text: "func Parse() { panic(\"unreachable_code\") }"}, precis.Image{URL: "https://hidden.example"}),
		precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{precis.Thinking{Text: "secretly"}, precis.Text{Text: "Über die Größe: ΟΔΥΣΣΕΥΣ, 日本語の文章, naïve"}, precis.ToolUse{ID: "u", Name: "x", Input: json.RawMessage("{\"cut off")}}},
	)
	s.converse("b", user("another BUG, another parser"), user("nothing"))
	s.converse("marks", user("ฐานข้อมูลที่นี่ หมดเวลา"), user("ฐานข้อมล"), user("កម្ពុជា ျမန်မာ हिन्दी"))                      // vowels and tones above and below are marks
	s.converse("korean", user("데이터베이스 연결에 실패했습니다"), user("\u1112\u1161\u11ab\u1100\u1173\u11af.txt in the folder Cafe\u0301")) // 한글, Café
	s.add(precis.Fingerprint{}, user("a bug in no conversation"))
	for _, c := range []struct {
		text string
		want []string
	}{
		{"bug", []string{"a:0", "b:0"}}, {"BUG fix", []string{"a:0"}}, {"fix bug another", nil}, {"parser", []string{"a:0", "a:1", "a:2", "b:0"}},
		{"parser.go", []string{"a:0", "a:1"}}, {"42", []string{"a:0"}}, {"17", []string{"a:1"}}, {"line", []string{"a:0", "a:1"}}, {"break", []string{"a:1"}},
		{"unreachable_code", []string{"a:2"}}, {"unreachable", []string{"a:2"}}, {"hidden", nil}, {"secretly", nil}, {"über GRÖSSE", nil}, {"über größe", []string{"a:3"}},
		{"οδυσσευς", []string{"a:3"}}, {"日本", []string{"a:3"}}, {"文章", []string{"a:3"}}, {"章句", nil}, {"NAÏVE", []string{"a:3"}}, {"cut", []string{"a:3"}}, {"nothing", []string{"b:1"}},
		{"កម្ពុជា", []string{"marks:2"}}, {"မာ", []string{"marks:2"}}, {"हिन्दी", []string{"marks:2"}}, {"\u0e35", nil}, {"ที่", []string{"marks:0"}}, {"ข้อมูล", []string{"marks:0"}}, {"ฐาน", []string{"marks:0", "marks:1"}},
		{"데이터베이스", []string{"korean:0"}}, {"연결", []string{"korean:0"}}, {"실패", []string{"korean:0"}}, {"실수", nil}, {"한글", []string{"korean:1"}}, {"café", []string{"korean:1"}}, {"cafe\u0301", []string{"korean:1"}},
	} {
		s.wantHits(c.text, c.want...)
	}
	s.wantHitsOf(store.SearchQuery{Text: "bug", Conversation: "b"}, "b:0")
	s.wantHitsOf(store.SearchQuery{Text: "bug", Conversation: "never"})
	s.wantHitsOf(store.SearchQuery{Text: "no conversation"})
	if n := len(s.search(store.SearchQuery{Text: "parser", Limit: 2})); n != 2 {
		s.Errorf("%d hits, want 2", n)
	}
	s.converse("c", user(strings.Repeat("filler ", 500)+"bug"))
	if found := s.search(store.SearchQuery{Text: "bug"}); len(found) != 3 || found[2].Conversation != "c" {
		s.Errorf("a long text with the word once is not the last of %v", found)
	}
}

// searchRelated checks the ranking: a query's words first, then other forms of them, then related
// words.
func searchRelated(s *suite) {
	need[store.Searcher](s)
	s.converse("a", user("the login is broken"), user("auth, auth, auth"), user("authenticating again and again"), user(strings.Repeat("filler ", 2000)+"auth"), user("performed"))
	s.converse("b", user("credentials credentials credentials"), user("they fixed the parsers"), user("repair of a parser"), user("slow"), user("the parser fails to fix this"))
	for _, c := range []struct {
		q    store.SearchQuery
		want string
	}{
		{store.SearchQuery{Text: "auth"}, "a:1 a:3 b:0(auth=credentials) a:2(auth=authenticating) a:0(auth=login)"},
		{store.SearchQuery{Text: "Auth", Limit: 2}, "a:1 a:3"},
		{store.SearchQuery{Text: "auth", Exact: true}, "a:1 a:3"},
		{store.SearchQuery{Text: "auth", Conversation: "b"}, "b:0(auth=credentials)"},
		{store.SearchQuery{Text: "auth", Conversation: "b", Exact: true}, ""},
		{store.SearchQuery{Text: "fix parser"}, "b:4 b:1 b:2(fix=repair)"},
		{store.SearchQuery{Text: "fix repair"}, ""}, // a query word does not also match as a related word of another
		{store.SearchQuery{Text: "fixing parser fail"}, "b:4"},
		{store.SearchQuery{Text: "performance"}, "a:4 b:3(performance=slow)"},
		{store.SearchQuery{Text: "latency"}, "b:3(latency=slow)"},
		{store.SearchQuery{Text: "auth one two three four five six seven eight"}, ""},
	} {
		var got []string
		for _, h := range s.search(c.q) {
			one := fmt.Sprint(h.Conversation, ":", h.Message)
			for _, r := range h.Related {
				one += "(" + r.Asked + "=" + r.Found + ")"
				if !strings.Contains(h.Snippet, r.Found) {
					s.Errorf("%+v: %q does not show %q", c.q, h.Snippet, r.Found)
				}
			}
			got = append(got, one)
		}
		if got := strings.Join(got, " "); got != c.want {
			s.Errorf("%+v: %s, want %s", c.q, got, c.want)
		}
	}
	many := talk("exact needle words", 300)
	many[5] = user("the credential of an older time")
	s.converse("many", many...)
	if found := s.search(store.SearchQuery{Text: "credential", Limit: 1}); len(found) != 1 || found[0].Conversation != "many" || found[0].Message != 5 {
		s.Errorf("an old message with the word itself does not go before newer ones with others: %v", found)
	}
}

// hostile are queries that could break the syntax of a query language.
var hostile = []string{
	"", " ", "\x00", "\xff", "\"", "\"\"", "'", "''", "\\", "(", ")", "(()", "*", "a*", "^a", "-a", "a -", "+", "NOT", "AND", "OR", "NEAR", "NEAR(a b)",
	"a AND", "NOT a", "a OR", "col:a", "words:a", "search:", "{a b}:c", "a & b", "a | b", "!a", "a <-> b", ":*", "a:*", "a:b", "'a':*", "%", "_", "a; DROP TABLE nodes",
	"' OR 1=1 --", "\ue0000", "\ue000", "\u202e", "\u0301", "ａ", "½", "𝒳", "\U0001f600", "-1", "?", "$1", "?1", "@a", "#", "[a]", "a\nb", "\r\n", "a\x00b", "a\xffb",
	"ก็", "נֹ", "ﷺ", "İ", "ß", "ŉ", "\u00ad", "a\u200db", "한국어", "हिन्दी",
}

func searchAnything(s *suite) {
	c := need[store.Searcher](s)
	for _, text := range append(hostile, strings.Repeat("many ", 50_000), strings.Repeat("x", 1<<20), strings.Repeat("(", 10_000), distinctWords(3000)) {
		if found, err := c.Search(s.ctx, store.SearchQuery{Text: text}); err != nil || len(found) != 0 {
			s.Errorf("%.40q in an empty store: %v, %v", text, found, err)
		}
	}
	for i, text := range hostile {
		if utf8.ValidString(text) {
			s.converse(fmt.Sprint(i), user("before "+text+" after"))
		}
	}
	for i, text := range hostile {
		found := s.search(store.SearchQuery{Text: text, Limit: 1000})
		has := slices.ContainsFunc(found, func(h store.Hit) bool { return h.Conversation == fmt.Sprint(i) })
		if utf8.ValidString(text) && len(found) > 0 && !has {
			s.Errorf("%q does not find itself but %d others", text, len(found))
		}
	}
	s.wantHitsOf(store.SearchQuery{Text: "한국어"}, fmt.Sprint(slices.Index(hostile, "한국어"), ":0"))
	s.wantHitsOf(store.SearchQuery{Text: "हिन्दी"}, fmt.Sprint(slices.Index(hostile, "हिन्दी"), ":0"))
	s.converse("long", user(distinctWords(3000)))
	s.wantHits(distinctWords(3000), "long:0")
	s.wantHits(distinctWords(3000) + " missing")
}

func distinctWords(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprint(&b, " w", i)
	}
	return b.String()
}

func searchSnippets(s *suite) {
	need[store.Searcher](s)
	filler := strings.Repeat("Füllung\r\n\t日本 ", 2000)
	s.converse("a", user(filler+"needle "+filler), user("needle"), user(strings.Repeat("x", 50_000)+" needle"), user("needle"+strings.Repeat("y", 50_000)),
		user("needle here, "+filler[:3000]+" a second needle by the haystack"), user(filler+strings.Repeat("z ", 20_000)+"outside"))
	found := s.search(store.SearchQuery{Text: "NEEDLE"})
	if len(found) != 4 {
		s.Errorf("%d hits, want 4", len(found))
	}
	for _, h := range found {
		if !strings.Contains(h.Snippet, "needle") || strings.ContainsAny(h.Snippet, "\r\n\t") {
			s.Errorf("message %d: snippet %q", h.Message, h.Snippet)
		}
	}
	for _, h := range s.search(store.SearchQuery{Text: "needle haystack"}) {
		if !strings.Contains(h.Snippet, "needle by the haystack") {
			s.Errorf("snippet %q does not show both", h.Snippet)
		}
	}
	s.wantHits("outside") // only 64 KB of a message are searched
	word := strings.Repeat("x", 50_000)
	for _, h := range s.search(store.SearchQuery{Text: word}) {
		if !strings.Contains(h.Snippet, "xxxx") {
			s.Errorf("snippet %q", h.Snippet)
		}
	}
}

// searchShared checks that a shared message is found in each of its conversations, and a message
// of an earlier form in none.
func searchShared(s *suite) {
	need[store.Searcher](s)
	msgs := []precis.Message{user("shared start"), user("shared middle"), user("own end")}
	a := s.converse("a", msgs...)
	b := s.converse("b", msgs[0], msgs[1], user("another end"), user("own end"))
	s.converse("c", user("apart"), user("shared middle"))
	s.put(store.Record{ID: "d", Head: b[1], Earlier: a})
	s.wantHits("shared", "a:0", "a:1", "b:0", "b:1", "c:1", "d:0", "d:1")
	s.wantHits("end", "a:2", "b:2", "b:3")
	s.wantHitsOf(store.SearchQuery{Text: "shared", Conversation: "d"}, "d:0", "d:1")
	s.wantHitsOf(store.SearchQuery{Text: "end", Conversation: "d"})
	s.put(store.Record{ID: "d"}, store.Record{ID: "e", Head: precis.Fingerprint{1}}) // heads without messages
	s.wantHits("middle", "a:1", "b:1", "c:1")
}

func searchMany(s *suite) {
	need[store.Searcher](s)
	msgs := talk("many", 700)
	msgs[3] = user("the needle")
	s.converse("a", msgs...)
	s.add(precis.Fingerprint{}, talk("many others", 300)...) // newer, but in no conversation
	if found := s.search(store.SearchQuery{Text: "many"}); len(found) != 20 {
		s.Errorf("%d hits, want 20", len(found))
	}
	if found := s.search(store.SearchQuery{Text: "request many", Limit: 50}); len(found) != 50 {
		s.Errorf("%d hits, want 50", len(found))
	}
	s.wantHits("needle", "a:3")
	errs := together(func(i int) error { // during concurrent appends
		word := fmt.Sprint("word", i)
		if _, err := s.Append(s.ctx, precis.Fingerprint{}, user(word)); err != nil {
			return err
		}
		found, err := s.Store.(store.Searcher).Search(s.ctx, store.SearchQuery{Text: "needle"})
		if err == nil && len(found) != 1 {
			err = fmt.Errorf("%d hits", len(found))
		}
		return err
	})
	if err := errors.Join(errs...); err != nil {
		s.Error(err)
	}
}
