package keeper_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/keeper"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/provider/providertest"
)

const window = 8_000

// counted counts runs that made edits.
type counted struct{ atomic.Int32 }

func (c *counted) report(r policy.Report) {
	if len(r.Edits) > 0 {
		c.Add(1)
	}
}

func open(t *testing.T, path string, o keeper.Options) *keeper.Keeper {
	t.Helper()
	if o.Window == nil {
		o.Window = func(string) int { return window }
	}
	k, err := keeper.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	})
	return k
}

func said(n int) string {
	return fmt.Sprintf("Question %d: %s what is the value of setting_%d in file_%d.yaml?", n, strings.Repeat("please look at it with care, ", 20), n, n)
}

const turns = 60

// Both SDKs hold sixty turns in a small window: nothing overflows, and at most one turn
// in five is reduced.
func TestSDKsStayInTheirWindow(t *testing.T) {
	ask := map[string]func(t *testing.T, k *keeper.Keeper, url string, n int, history *[]string) string{
		"anthropic": func(t *testing.T, k *keeper.Keeper, url string, n int, history *[]string) string {
			client := anthropic.NewClient(anthropicoption.WithHTTPClient(k.HTTPClient()), anthropicoption.WithBaseURL(url), anthropicoption.WithAPIKey("key"))
			var list []anthropic.MessageParam
			for i, text := range *history {
				block := anthropic.NewTextBlock(text)
				if i%2 == 0 {
					list = append(list, anthropic.NewUserMessage(block))
				} else {
					list = append(list, anthropic.NewAssistantMessage(block))
				}
			}
			params := anthropic.MessageNewParams{Model: "claude-sonnet-4-5", MaxTokens: 500, Messages: list}
			ctx := keeper.Named(t.Context(), "ticket")
			if n%2 == 0 {
				res, err := client.Messages.New(ctx, params)
				if err != nil {
					t.Fatal(err)
				}
				return res.Content[0].Text
			}
			stream := client.Messages.NewStreaming(ctx, params)
			var whole anthropic.Message
			for stream.Next() {
				if err := whole.Accumulate(stream.Current()); err != nil {
					t.Fatal(err)
				}
			}
			if err := stream.Err(); err != nil {
				t.Fatal(err)
			}
			return whole.Content[0].Text
		},
		"openai": func(t *testing.T, k *keeper.Keeper, url string, _ int, history *[]string) string {
			client := openai.NewClient(openaioption.WithHTTPClient(k.HTTPClient()), openaioption.WithBaseURL(url+"/v1"), openaioption.WithAPIKey("key"))
			var list []openai.ChatCompletionMessageParamUnion
			for i, text := range *history {
				if i%2 == 0 {
					list = append(list, openai.UserMessage(text))
				} else {
					list = append(list, openai.AssistantMessage(text))
				}
			}
			res, err := client.Chat.Completions.New(keeper.Named(t.Context(), "ticket"), openai.ChatCompletionNewParams{Model: "gpt-5", Messages: list, MaxTokens: openai.Int(500)})
			if err != nil {
				t.Fatal(err)
			}
			return res.Choices[0].Message.Content
		},
	}
	for name, ask := range ask {
		t.Run(name, func(t *testing.T) {
			s := providertest.New(t, providertest.Options{Window: window, Key: "key"})
			var c counted
			k := open(t, filepath.Join(t.TempDir(), "agent.db"), keeper.Options{OnReport: c.report})
			history := []string{"Never delete a file without asking me."}
			for n := range turns {
				history[len(history)-1] += " " + said(n)
				s.Enqueue(providertest.Reply{Text: fmt.Sprintf("The value of setting_%d is %d. %s", n, n*n, strings.Repeat("It is so. ", 20))})
				answer := ask(t, k, s.URL, n, &history)
				history = append(history, answer, "")
			}
			if problems := s.Problems(); len(problems) > 0 {
				t.Errorf("%q", problems)
			}
			if runs := c.Load(); runs == 0 || runs > turns/5 {
				t.Errorf("%d of %d turns were reduced", runs, turns)
			}
			id, err := k.Find(t.Context(), "ticket")
			if err != nil {
				t.Fatal(err)
			}
			found, err := conversation.Search(t.Context(), k.Home(), conversation.SearchOptions{Conversation: id, Text: "setting_3 is 9"})
			if err != nil || len(found.Items) == 0 {
				t.Errorf("nothing of the beginning is found: %v", err)
			}
		})
	}
}

// A conversation by its name stays in its window, is there again after the program has
// ended, and gives back what it hides.
func TestConversationByName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.db")
	ctx := t.Context()
	var c counted
	k, err := keeper.Open(path, keeper.Options{Window: func(string) int { return window }, Model: "claude-sonnet-4-5", OnReport: c.report})
	if err != nil {
		t.Fatal(err)
	}
	conv, err := k.Conversation(ctx, "ticket-4711")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conv.View(ctx); precis.CodeOf(err) != precis.CodeInvalid {
		t.Errorf("nothing was said: %v", err)
	}
	conv.Append(precis.NewText(precis.RoleUser, "Never delete a file without asking me. "+said(0)))
	var last keeper.View
	for n := range turns {
		if last, err = conv.View(ctx); err != nil {
			t.Fatal(err)
		}
		if last.Tokens > window {
			t.Fatalf("turn %d: %d tokens", n, last.Tokens)
		}
		conv.Append(precis.NewText(precis.RoleAssistant, fmt.Sprintf("setting_%d is %d. %s", n, n*n, strings.Repeat("It is so. ", 20))), precis.NewText(precis.RoleUser, said(n+1)))
	}
	if runs := c.Load(); runs == 0 || runs > turns/5 {
		t.Errorf("%d of %d turns were reduced", runs, turns)
	}
	if !strings.Contains(string(last.JSON), "Never delete a file without asking me") {
		t.Error("the rule is gone")
	}
	if last, err = conv.View(ctx); err != nil {
		t.Fatal(err)
	}
	again, err := k.Conversation(ctx, "ticket-4711")
	if err != nil || again != conv {
		t.Errorf("another one: %v", err)
	}
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}

	k = open(t, path, keeper.Options{Model: "claude-sonnet-4-5"})
	if conv, err = k.Conversation(ctx, "ticket-4711"); err != nil || conv.Len() != 2*turns+1 || conv.ID() == "" {
		t.Fatalf("%d messages, ID %q, %v", conv.Len(), conv.ID(), err)
	}
	view, err := conv.View(ctx)
	if err != nil || string(view.JSON) != string(last.JSON) {
		t.Errorf("another view than before: %v", err)
	}
	old, err := conv.Show(ctx, precis.MessageHandle(1))
	if err != nil || !strings.Contains(fmt.Sprint(old), "setting_0 is 0") {
		t.Errorf("%v, %v", old, err)
	}
	if _, err := conv.Undo(ctx); err != nil {
		t.Error(err)
	}
	if s, err := conv.Status(ctx); err != nil || s.Window.Tokens != window {
		t.Errorf("%+v, %v", s.Window, err)
	}
	if _, err := k.Conversation(ctx, ""); precis.CodeOf(err) != precis.CodeInvalid {
		t.Error(err)
	}
}

// Two programs at one file, and two names that say the same.
func TestTwoAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.db")
	a, b := open(t, path, keeper.Options{}), open(t, path, keeper.Options{})
	ctx := t.Context()
	for _, name := range []string{"one", "two"} {
		x, err := a.Conversation(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		for n := range 30 {
			x.Append(precis.NewText(precis.RoleUser, said(n)), precis.NewText(precis.RoleAssistant, strings.Repeat("Yes. ", 60)))
		}
		x.Append(precis.NewText(precis.RoleUser, "Go on."))
		if _, err := x.View(ctx); err != nil {
			t.Fatal(err)
		}
	}
	one, err := a.Find(ctx, "one")
	if err != nil {
		t.Fatal(err)
	}
	if two, err := a.Find(ctx, "two"); err != nil || one == two {
		t.Errorf("%s and %s, %v", one, two, err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	y, err := b.Conversation(ctx, "one")
	if err != nil || y.ID() != one || y.Len() != 61 {
		t.Fatalf("%s with %d messages, %v", y.ID(), y.Len(), err)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if _, err := y.View(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// One program goes on where another ended, again and again.
func TestOneAfterAnother(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.db")
	ctx := t.Context()
	id := ""
	for n := range 4 {
		k, err := keeper.Open(path, keeper.Options{})
		if err != nil {
			t.Fatal(err)
		}
		c, err := k.Conversation(ctx, "shared")
		if err != nil {
			t.Fatal(err)
		}
		if c.Len() != 2*n || c.ID() != id {
			t.Fatalf("%d messages, want %d; ID %q, was %q", c.Len(), 2*n, c.ID(), id)
		}
		c.Append(precis.NewText(precis.RoleUser, said(n)), precis.NewText(precis.RoleAssistant, fmt.Sprintf("Noted: %d.", n)))
		if _, err := c.View(ctx); err != nil {
			t.Fatal(err)
		}
		id = c.ID()
		if err := k.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// words counts words.
type words struct{}

func (words) Name() string { return "words" }

func (words) Count(m precis.Message) int { return len(strings.Fields(m.PlainText())) }

// nothing is a rung that hides nothing.
type nothing struct{ asked *counted }

func (nothing) Name() string { return "digest" }

func (n nothing) Propose(context.Context, *policy.Situation) (precis.Edit, error) {
	n.asked.Add(1)
	return precis.Edit{}, errors.New("not today")
}

// A counter and a rung of one's own leave the gate and the calibration in place.
func TestOwnParts(t *testing.T) {
	var asked counted
	var reports []policy.Report
	k := open(t, "", keeper.Options{Counter: words{}, Instead: []policy.Strategy{nothing{&asked}}, Window: func(string) int { return 1000 }, OnReport: func(r policy.Report) { reports = append(reports, r) }})
	conv, err := k.Conversation(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	for n := range 40 {
		conv.Append(precis.NewText(precis.RoleUser, said(n)), precis.NewText(precis.RoleAssistant, strings.Repeat("Yes it is. ", 40)))
	}
	conv.Append(precis.NewText(precis.RoleUser, "Go on."))
	view, err := conv.View(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := view.Report
	if !view.Acted || r.Counter != "words" || r.Retention == nil || asked.Load() == 0 || len(reports) == 0 {
		t.Errorf("acted %v, counter %s, retention %v, asked %d times, %d reports", view.Acted, r.Counter, r.Retention, asked.Load(), len(reports))
	}
}

func TestRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "no.db")
	if err := os.WriteFile(path, []byte("this is no store, but a text of some length"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := keeper.Open(path, keeper.Options{}); precis.CodeOf(err) != precis.CodeInvalid {
		t.Error(err)
	}
}

// What a small agent links is small: no telemetry, no driver of PostgreSQL, no grammar.
func TestLight(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "..", "../preset", "../store/sqlite", "../keeper").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, heavy := range []string{"opentelemetry", "prometheus", "pgx", "sitter", "openai-go", "anthropic-sdk", "cobra", "grpc"} {
		if strings.Contains(string(out), heavy) {
			t.Errorf("it needs %s", heavy)
		}
	}
}

// A program with the ladder and an SQLite store, that speaks HTTP, is a binary of 15 MB at
// most; with a keeper, of 20.
func TestSizes(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	module := reflect.TypeFor[precis.Message]().PkgPath()
	for name, c := range map[string]struct {
		program string
		most    int64
	}{
		"ladder": {`import ("context"; "fmt"; "net/http"; "precis/preset"; "precis/store/sqlite")

func main() {
	st, err := sqlite.Open(context.Background(), "agent.db", sqlite.Options{})
	fmt.Println(err)
	fmt.Println(preset.New(preset.Options{Store: st}))
	fmt.Println(http.Get("https://localhost"))
}`, 15_000_000},
		"keeper": {`import ("fmt"; "precis/keeper")

func main() {
	k, err := keeper.Open("agent.db", keeper.Options{})
	fmt.Println(err)
	fmt.Println(k.HTTPClient().Get("https://localhost"))
}`, 21_000_000},
	} {
		dir := t.TempDir()
		program, binary := filepath.Join(dir, "main.go"), filepath.Join(dir, "agent")
		if err := os.WriteFile(program, []byte("package main\n\n"+strings.ReplaceAll(c.program, `"precis/`, `"`+module+"/")), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", binary, program)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", name, err, out)
		}
		info, err := os.Stat(binary)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %.1f MB", name, float64(info.Size())/1e6)
		if info.Size() > c.most {
			t.Errorf("%s: %d bytes, want %d at most", name, info.Size(), c.most)
		}
	}
}

// The lines of the documentation compile in a module of somebody else, with both SDKs.
func TestFromAnotherModule(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	dir := t.TempDir()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile("../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	docs, err := os.ReadFile("../docs/library.md")
	if err != nil {
		t.Fatal(err)
	}
	_, program, ok := strings.Cut(string(docs), "```go\n")
	program, _, _ = strings.Cut(program, "```")
	if !ok {
		t.Fatal("docs/library.md has no program")
	}
	_, rest, _ := strings.Cut(string(mod), "\n")
	module := reflect.TypeFor[precis.Message]().PkgPath()
	text := "module example\n" + rest + "\nrequire " + module + " v0.0.0\nreplace " + module + " => " + root + "\n"
	for name, text := range map[string]string{"go.mod": text, "go.sum": string(sum), "main.go": program} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "build", "-o", "agent", ".") // with the flags of the tests, so that packages come from the cache
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -mod=mod", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}
