package workstate

import (
	"fmt"
	"testing"
)

// An ID is what the result of a call gives and a later call uses, whatever it looks like and whatever the result says around it.
func TestIDsThatResultsGive(t *testing.T) {
	for result, ids := range map[string][3]string{
		"Task #t%d created":                       {"t1", "t2", "t3"},
		"Created todo-%d.":                        {"todo-1", "todo-2", "todo-3"},
		"Task %d of 3 created":                    {"1", "2", "3"},
		"Added as %d (3 tasks in all, 1 is open)": {"1", "2", "3"},
		`{"ok":true,"task":{"key":"OT-%d"}}`:      {"OT-1", "OT-2", "OT-3"},
	} {
		k := start()
		for i, text := range []string{"find 2 otters", "feed 3 otters", "count"} {
			k.call("TaskCreate", fmt.Sprintf(`{"content":%q}`, text), fmt.Sprintf(result, i+1))
		}
		k.call("TaskUpdate", fmt.Sprintf(`{"id":%q,"status":"completed"}`, ids[1]), "ok")
		k.call("TaskUpdate", fmt.Sprintf(`{"task":"#%s","status":"in_progress"}`, ids[2]), "ok")
		if got := steps(k.read()); got != "open find 2 otters; done feed 3 otters; active count" {
			t.Errorf("%s: %s", result, got)
		}
		k.call("TaskUpdate", fmt.Sprintf(`{"ids":[%q,%q],"status":"completed"}`, ids[0], ids[2]), "ok")
		if got := steps(k.read()); got != "done find 2 otters; done feed 3 otters; done count" {
			t.Errorf("%s: %s", result, got)
		}
	}
}
