package harness

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/precis-dev/precis/internal/table"
)

//go:embed marks.txt
var marksText string

var marksTable = table.Lazy("marks.txt", marksText, "mark", "is", "list", "program")

//go:embed tools.txt
var toolsText string

var tools = table.Lazy("tools.txt", toolsText, "tool", "is", "says", "program")

// IsTool reports whether a tool is of one of the kinds of tools.txt: its results are persons'
// answers, or begin with words of the program, or begin a turn.
func IsTool(name string, kinds ...string) bool {
	return slices.ContainsFunc(kinds, func(kind string) bool { return tools().Has(name, "is", kind) })
}

//go:embed leads.txt
var leadsText string

var leadsTable = table.Lazy("leads.txt", leadsText, "pattern", "program")

// leads matches the introductions that programs write before the user's words, and the wrapping of
// these.
var leads = sync.OnceValue(func() *regexp.Regexp {
	var sentences, wrappings []string
	for _, row := range leadsTable().Rows {
		sentences = append(sentences, row.Get("pattern"))
	}
	for _, m := range marks()["user"] {
		wrappings = append(wrappings, m.text)
	}
	said, around := strings.Join(sentences, "|"), strings.Join(wrappings, "|")
	return regexp.MustCompile(`(?m)^[ \t]*(?:` + said + `)\s*(` + around + `)`)
})

//go:embed elements.txt
var elementsText string

var elements = table.Lazy("elements.txt", elementsText, "element", "holds")

//go:embed commands.txt
var commandsText string

var commands = table.Lazy("commands.txt", commandsText, "command", "is")

// mark is an entry of marks.txt.
type mark struct {
	text, list string
	is         []string
}

// marks holds the entries of marks.txt by kind.
var marks = sync.OnceValue(func() map[string][]mark {
	out := map[string][]mark{}
	for _, row := range marksTable().Rows {
		m := mark{strings.TrimPrefix(row.Get("mark"), `\`), row.Get("list"), row.Words("is")}
		for _, word := range m.is {
			out[word] = append(out[word], m)
		}
	}
	return out
})

// markOf returns the mark of a kind, see marks.txt, at the beginning of a text.
func markOf(text, kind string) (mark, bool) {
	text = strings.TrimLeft(text, " \n\t\r")
	all := marks()[kind]
	i := slices.IndexFunc(all, func(m mark) bool { return strings.HasPrefix(text, m.text) })
	if i < 0 {
		return mark{}, false
	}
	return all[i], true
}

// begins reports whether a text begins with a mark of a kind.
func begins(text, kind string) bool {
	_, ok := markOf(text, kind)
	return ok
}

// isOnly reports whether a text consists of a mark of a kind.
func isOnly(text, kind string) bool {
	return marksTable().Has(strings.TrimSpace(text), "is", kind)
}
