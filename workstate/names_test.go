package workstate

import (
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis/internal/table"
	"github.com/precis-dev/precis/internal/table/tabletest"
	"github.com/precis-dev/precis/internal/toolcall"
)

// TestFields: the input of each example gives a step, hands work to an agent, or names a job that was begun.
func TestFields(t *testing.T) {
	tabletest.Examples(t, fields(), func(row table.Row, input string) bool {
		k := start().call("update_plan", input, "ok")
		args := arguments(&toolcall.Find(k.msgs)[0])
		_, named := (&jobs{keyed{byKey: map[string]int{"j1": 0}}}).asked(args)
		r := k.read()
		of := func(means string) bool { return slices.Contains(row.Words("means"), means) }
		switch {
		case of("id"):
			return strings.Contains(input, "7") && r.Steps[0].Key == "plan #7"
		case of("below"), of("plan"), of("state"), of("done"), row.Get("text") != "":
			return len(r.Steps) > 0 && r.Steps[len(r.Steps)-1].Text != "" && (!of("done") || r.Steps[0].State == Done)
		case of("given"), of("agent"):
			return len(r.Jobs) == 1
		case of("names"):
			return named
		}
		return row.Get("job") != "" && taskOf(&toolcall.Call{}, args) == "a"
	})
}

func TestStates(t *testing.T) {
	tabletest.Examples(t, states(), func(row table.Row, word string) bool {
		return string(stateOf(word)) == row.Get("step") && string(stateOfJob(word)) == row.Get("job")
	})
}

func TestToolWords(t *testing.T) {
	tabletest.Examples(t, toolWords(), func(row table.Row, tool string) bool {
		for _, role := range row.Words("roles") {
			if !slices.ContainsFunc(words(tool), func(w string) bool { return singular(w) == row.Get("word") && hasRole(w, role) }) {
				return false
			}
		}
		return true
	})
}

func TestBeginnings(t *testing.T) {
	tabletest.Examples(t, beginnings(), func(_ table.Row, l string) bool { return startOffset(l) == 0 })
}
