package rules

import (
	"slices"
	"strings"
)

// In the languages that are written without spaces the end of a sentence says that something is asked for.

// recurring reports whether a sentence asks for something that is to be done each time, or before something, or in a language:
// "変更するたびにテストを実行してください".
func recurring(s string) bool {
	s = strings.TrimRight(s, " \t。.!！~")
	asks := false
	for _, end := range requesting {
		asks = asks || strings.HasSuffix(s, end)
	}
	if !asks {
		return false
	}
	for _, when := range each {
		if strings.Contains(s, when) {
			return true
		}
	}
	return false
}

// onePart reports whether a sentence begins with a single part of what is built: "この関数は".
func onePart(s string) bool {
	for _, this := range pointing {
		if rest, ok := strings.CutPrefix(s, this); ok {
			return !slices.ContainsFunc(wholes, func(whole string) bool { return strings.HasPrefix(rest, whole) })
		}
	}
	return false
}

// doesItself reports whether a sentence says of a part of what is built that it does only something: "フィルターは表示だけ変更します".
func doesItself(s string) bool {
	if !topical(s) || !strings.Contains(s, "だけ") && !strings.Contains(s, "のみ") && !strings.Contains(s, "만 ") {
		return false
	}
	s = strings.TrimRight(s, " \t。.!！~")
	return strings.HasSuffix(s, "します") || strings.HasSuffix(s, "する") || strings.HasSuffix(s, "합니다") && !strings.HasSuffix(s, "야 합니다")
}

// ordersNew reports whether a sentence asks, at its end, for something to be built.
func ordersNew(s string) bool {
	s = strings.TrimRight(s, " \t。.!！~")
	for _, end := range making {
		if strings.HasSuffix(s, end) {
			return true
		}
	}
	return false
}

// topical reports whether a sentence says of what it is, in the way of Japanese and Korean.
func topical(s string) bool {
	const near = 36 // bytes to the word that says so
	s = s[:min(len(s), near)]
	return strings.Contains(s, "は") || strings.Contains(s, "が") || strings.Contains(s, "은 ") || strings.Contains(s, "는 ")
}

var (
	making     = strings.Split("スクリプトを書いてください|プログラムを書いてください|関数を書いてください|ツールを書いてください|実装してください|作ってください|作成してください|追加してください|구현해 주세요|구현하세요|만들어 주세요|추가해 주세요|추가하세요|작성해 주세요|개발해 주세요", "|")
	requesting = strings.Fields("ください 下さい すること くれ 세요 십시오 해줘 해 주세요")
	each       = strings.Split("たびに|る度に|る前に|る前は|語で書|語で答|語で返|語で回答|할 때마다|기 전에|로 답변|로 작성", "|")
	wholes     = strings.Split("プロジェクト|リポジトリ|プロジェ|项目|프로젝트|会话|指示|ルール|規則|规则|指令|规定|지침|지시|규칙", "|") // behind pointing: no part of what is built
	pointing   = []string{"この", "その", "这个", "該", "该", "이 ", "그 "}
)
