package conformance

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/archive/formats"
	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/policy"
)

// trap is a short conversation in which a careless reader takes something for true that is not, or loses something, and what
// its digest says all the same.
type trap struct {
	Name     string          `json:"name"`
	Messages json.RawMessage `json:"messages"`
	Checks   []struct {
		On   string `json:"on"` // a list of the state, a section of the text, or all of it
		Want bool   `json:"want"`
		Says string `json:"says"` // a regular expression
	} `json:"checks"`
}

// trapSections are the heads of the sections that checks name.
var trapSections = map[string]string{"where": "## Where the work stands", "results": "## Last results", "refused": "## Refused by the user",
	"reqsec": "## The user's requests", "agents": "## Agents and background"}

func TestTraps(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "traps.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var one trap
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			t.Fatal(err)
		}
		t.Run(one.Name, func(t *testing.T) {
			t.Parallel()
			rec, err := archive.Read(archive.Source{Path: "trap.json", Data: []byte(`{"messages":` + string(one.Messages) + `}`)}, formats.All())
			if err != nil {
				t.Fatal(err)
			}
			said := trapDigest(t, rec.Conversation)
			for _, c := range one.Checks {
				if regexp.MustCompile(c.Says).MatchString(said[c.On]) != c.Want {
					t.Errorf("%s: %q is said: %v, want %v\n%s", c.On, c.Says, !c.Want, c.Want, said["text"])
				}
			}
		})
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}

// trapDigest returns the digest of a conversation by what checks name.
func trapDigest(t *testing.T, conv *precis.Conversation) map[string]string {
	msgs := conv.Transcript.Messages()
	sum, err := digest.Writer{}.Summarize(t.Context(), policy.SummaryRequest{Messages: msgs, MaxTokens: 3500})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{"text": sum.Text}
	for name, head := range trapSections {
		for i, part := range strings.Split("\n"+sum.Text, "\n## ") {
			if i > 0 && strings.HasPrefix("## "+part, head) {
				out[name] += "## " + part + "\n"
			}
		}
	}
	data, err := json.Marshal(digest.StateOf(conv))
	if err != nil {
		t.Fatal(err)
	}
	var state map[string]json.RawMessage
	if err := json.Unmarshal(data, &state); err != nil {
		t.Fatal(err)
	}
	for name, part := range state {
		var list []json.RawMessage
		if json.Unmarshal(part, &list) != nil {
			list = []json.RawMessage{part} // no list
		}
		for _, item := range list {
			out[name] += strings.ReplaceAll(strings.ReplaceAll(string(item), `":`, `": `), `,"`, `, "`) + "\n"
		}
	}
	out["requests"] += out["answers"]
	return out
}
