package condense

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
)

func ExamplePrompt() {
	p := Prompt{Template: "brief", Focus: "the failing tests", MaxTokens: 1000}
	fmt.Println(strings.Join(p.Sections(), ", "))
	for line := range strings.Lines(p.Instruction()) {
		if strings.Contains(line, "1000") || strings.HasPrefix(line, "the failing") {
			fmt.Print(line)
		}
	}
	// Output:
	// Goal, State, Rules, Files, Next
	// The summary must stay under 1000 tokens, about 750 English words. If that is too little, shorten first what is finished; rules, requests and open work stay.
	// the failing tests
}

func TestPromptTemplates(t *testing.T) {
	want := map[string]int{"": 9, "nine": 9, "six": 6, "brief": 5}
	for _, name := range append(Templates(), "") {
		p := Prompt{Template: name}
		if err := p.Validate(); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		text := p.Instruction()
		if n := len(strings.Fields(text)); n > 700 {
			t.Errorf("%q has %d words", name, n)
		}
		sections := p.Sections()
		if len(sections) != want[name] {
			t.Errorf("%q has the sections %q", name, sections)
		}
		at := 0
		for i, s := range sections {
			line := fmt.Sprintf("\n%d. %s: ", i+1, s)
			n := strings.Index(text[at:], line)
			if n < 0 {
				t.Fatalf("%q does not ask for %q in its place", name, line)
			}
			at += n
		}
		for _, say := range []string{"[m12]", "(m12.b0)", "word for word", "<command>", "project rules", "</summary>", "without calling a tool"} {
			if !strings.Contains(text, say) {
				t.Errorf("%q says nothing of %s", name, say)
			}
		}
		if got := strings.Contains(text, "<analysis>"); got != (want[name] == 9) {
			t.Errorf("%q asks for thoughts: %v", name, got)
		}
	}
	if got := (Prompt{}).Instruction(); got != (Prompt{Template: "nine"}).Instruction() {
		t.Error("nine is not the default")
	}
}

// The headings that a template asks for are those the check looks for.
func TestPromptSectionsAreRecognized(t *testing.T) {
	for _, name := range Templates() {
		p := Prompt{Template: name}
		if missing := missingSections(p.Instruction(), p.template().sections); missing != nil {
			t.Errorf("%s: %q not seen", name, missing)
		}
		for i, s := range p.template().sections {
			for _, heading := range append([]string{s.name}, s.also...) {
				if got := sectionNamed(p.template().sections, heading0(t, "## "+heading)); got != i {
					t.Errorf("%s: %q is taken for section %d, want %d", name, heading, got+1, i+1)
				}
			}
		}
	}
}

func heading0(t *testing.T, line string) heading {
	t.Helper()
	h, ok := headingOf(line)
	if !ok {
		t.Fatalf("%q is no heading", line)
	}
	return h
}

func TestPromptGuard(t *testing.T) {
	guard := Prompt{}.Guard()
	for _, say := range []string{"system operation", "plain text", "no tools", "Do not continue", "latest request", "data", "language", "past tense", "paths, rules, commands, error texts and numbers"} {
		if !strings.Contains(guard, say) {
			t.Errorf("the guard says nothing of %s", say)
		}
	}
	if other := (Prompt{Template: "six", Custom: "x", Focus: "y", Ride: true}).Guard(); other != guard {
		t.Error("the guard depends on the prompt")
	}
	if strings.Contains(Prompt{}.Instruction(), guard) || !strings.Contains(Prompt{Ride: true}.Instruction(), guard) {
		t.Error("the instruction holds the guard when, and only when, it rides")
	}
	if !strings.Contains(Prompt{Ride: true, Custom: "x"}.Instruction(), guard) {
		t.Error("a custom prompt rides without the guard")
	}
}

// Each field is said, and only when it is set.
func TestPromptSaysWhatIsSet(t *testing.T) {
	for _, base := range []Prompt{{}, {Template: "brief"}, {Custom: "Only the gist."}} {
		plain := base.Instruction()
		for _, tt := range []struct {
			set  func(*Prompt)
			want string
		}{
			{func(p *Prompt) { p.Focus = "the parser" }, "the parser"},
			{func(p *Prompt) { p.Rules = "always tabs" }, "<project_rules>\nalways tabs\n</project_rules>"},
			{func(p *Prompt) { p.Context = "branch: main" }, "branch: main"},
			{func(p *Prompt) { p.Previous = true }, "earlier summary. Bring it up to date"},
			{func(p *Prompt) { p.Part, p.Parts = 2, 7 }, "part 2 of 7"},
			{func(p *Prompt) { p.Merge = true }, "Make one summary of them"},
			{func(p *Prompt) { p.MaxTokens = 4321 }, "4321 tokens"},
			{func(p *Prompt) { p.Wrong = "It was empty." }, "could not be used. It was empty."},
			{func(p *Prompt) { p.Ride = true }, "not of the user"},
		} {
			p := base
			tt.set(&p)
			if err := p.Validate(); err != nil {
				t.Error(err)
			}
			if got := p.Instruction(); strings.Contains(plain, tt.want) || !strings.Contains(got, tt.want) {
				t.Errorf("%q is not said, or always:\n%s", tt.want, got)
			}
		}
	}
	p := Prompt{Merge: true, Previous: true, Part: 1, Parts: 1}
	if got := p.Instruction(); strings.Contains(got, "up to date") || strings.Contains(got, "part 1 of 1") {
		t.Errorf("a merge begins with no earlier summary, and one part is all:\n%s", got)
	}
	blank := Prompt{Custom: " \n", Rules: "\t", Focus: " ", Context: "\n"}
	if blank.Instruction() != (Prompt{}).Instruction() {
		t.Error("blank fields are said")
	}
}

func TestPromptCustomReplacesTheTemplate(t *testing.T) {
	p := Prompt{Template: "six", Custom: "  Write a haiku.  "}
	got := p.Instruction()
	if !strings.HasPrefix(got, "Write a haiku.\n\n") || p.Sections() != nil {
		t.Errorf("%q %q", got, p.Sections())
	}
	for _, not := range append(Prompt{Template: "six"}.Sections(), "[m12]", "<command>", "<summary>") {
		if strings.Contains(got, not) {
			t.Errorf("the template's %q is still there", not)
		}
	}
}

// What is quoted cannot end its own quotation.
func TestPromptQuotesStayClosed(t *testing.T) {
	p := Prompt{Rules: "a</project_rules>b", Context: "a</added_context>b", Focus: "a</focus>b"}
	for _, tag := range []string{"</project_rules>", "</added_context>", "</focus>"} {
		if n := strings.Count(p.Instruction(), tag); n != 1 {
			t.Errorf("%d %s", n, tag)
		}
	}
}

func TestPromptValidate(t *testing.T) {
	for field, p := range map[string]Prompt{
		"Template":  {Template: "ten"},
		"MaxTokens": {MaxTokens: -1},
		"Part":      {Part: 3, Parts: 2},
		"Part is":   {Part: -1, Parts: 2},
		"Parts":     {Parts: -1},
	} {
		err := p.Validate()
		if precis.CodeOf(err) != precis.CodeInvalid || !strings.Contains(fmt.Sprint(err), field) {
			t.Errorf("%+v: %v", p, err)
		}
	}
	if err := (Prompt{Template: "nine", Part: 2, Parts: 2, MaxTokens: 1}).Validate(); err != nil {
		t.Error(err)
	}
	if !slices.Equal(Prompt{Template: "ten"}.Sections(), Prompt{}.Sections()) {
		t.Error("an unknown template does not give the default")
	}
}
