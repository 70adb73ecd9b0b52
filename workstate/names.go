package workstate

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/precis-dev/precis/internal/table"
)

//go:embed fields.txt
var fieldsText string

//go:embed states.txt
var statesText string

//go:embed tools.txt
var toolsText string

var (
	fields    = table.Lazy("fields.txt", fieldsText, "name", "text", "job", "means")
	states    = table.Lazy("states.txt", statesText, "word", "step", "job")
	toolWords = table.Lazy("tools.txt", toolsText, "word", "roles")
)

// folded returns a name in lower case, without "_" and "-".
func folded(name string) string {
	if !strings.ContainsAny(name, "_-") {
		return strings.ToLower(name)
	}
	return strings.ToLower(strings.ReplaceAll(strings.ReplaceAll(name, "_", ""), "-", ""))
}

// means reports whether a folded name has a meaning of fields.txt.
func means(name, what string) bool {
	return fields().Has(name, "means", what)
}

// textRank returns the rank of a folded field name as the text of a step; 0 for other names.
func textRank(name string) int {
	row, ok := fields().Find(name)
	if !ok {
		return 0
	}
	rank, _ := strconv.Atoi(row.Get("text"))
	return rank
}

// stateOf parses the state of a step, a word or the sign in a box; "" if it is not one.
func stateOf(word string) State {
	switch plain := folded(word); {
	case plain == "" && strings.Contains(word, "-"): // "[-]"
		return Active
	case strings.TrimSpace(plain) == "":
		return Open
	}
	return stateAs("step", word)
}

// stateOfJob parses the state of a job; "" if the word is not one.
func stateOfJob(word string) State { return stateAs("job", word) }

func stateAs(kind, word string) State {
	row, ok := states().Find(strings.NewReplacer(" ", "", "'", "").Replace(folded(word)))
	if !ok {
		return ""
	}
	return State(row.Get(kind))
}

// words returns the words of a tool's name in lower case: TaskCreate is task, create.
func words(tool string) []string {
	if at := strings.LastIndex(tool, "__"); at >= 0 { // mcp__server__tool
		tool = tool[at+2:]
	}
	var out strings.Builder
	var last rune
	for _, r := range tool {
		if unicode.IsUpper(r) && unicode.IsLower(last) {
			out.WriteByte(' ')
		}
		out.WriteRune(unicode.ToLower(r))
		last = r
	}
	return strings.FieldsFunc(out.String(), func(r rune) bool { return !unicode.IsLetter(r) })
}

// singular returns a word as tools.txt has it: "todowrite" is todo.
func singular(word string) string {
	if _, ok := toolWords().Find(word); ok {
		return word
	}
	for _, end := range []string{"s", "write", "read", "swrite", "sread"} {
		if rest := strings.TrimSuffix(word, end); rest != word {
			if _, ok := toolWords().Find(rest); ok {
				return rest
			}
		}
	}
	return word
}

// hasRole reports whether a word has a role in the names of tools, see tools.txt.
func hasRole(word, role string) bool {
	return toolWords().Has(singular(word), "roles", role)
}

// plays reports whether a word of a tool's name has a role.
func plays(tool, role string) bool {
	return slices.ContainsFunc(words(tool), func(w string) bool { return hasRole(w, role) })
}

// subject returns the name of a tool's list: the tool's name without verbs, in the singular.
func subject(tool string) string {
	var out []string
	for _, w := range words(tool) {
		if !hasRole(w, "verb") {
			out = append(out, singular(w))
		}
	}
	return strings.Join(out, " ")
}

// stateByTool returns the state that a tool's name implies for a step; "" for none.
func stateByTool(tool string) State {
	for _, w := range words(tool) {
		for _, state := range []State{Done, Dropped, Active} {
			if hasRole(w, string(state)) {
				return state
			}
		}
	}
	return ""
}
