package control_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/gateway/control"
)

// catalogWindow is a window that nobody has set: an error may correct it.
func catalogWindow(o *gateway.Options, _ *control.Options) {
	o.Window = func(context.Context, string) precis.Window {
		return precis.Window{Tokens: 1_000_000, Source: precis.SourceCatalog}
	}
}

// reader is a caller of an owner that has read so many files.
func (p *place) reader(owner, name string, files int) *caller {
	c := &caller{agent: p.agent("chat", "Read the files for "+name+".", "Authorization", "Bearer "+owner), name: name}
	for range files {
		c.turn(40)
	}
	return c
}

// refused is the report of a view that the server refused.
func refused(v view, status int, text string) string {
	return fmt.Sprintf(`,"server":"box:8000","reported":{"model":"m","tokens":%d,"status":%d,"error":%s}`, int(float64(v.After)/v.Report.Calibration), status, quote(text))
}

const box = `,"server":"box:8000"`

// What the error of a provider states is learned as from an upstream of the gateway: for the owner, the
// server and the model, at once, for other conversations and after a restart.
func TestTheRefusalOfAViewTeachesTheWindow(t *testing.T) {
	st := openStore(t)
	p := start(t, st, catalogWindow)
	for _, name := range []string{"", "ticket"} {
		owner := "one" + name
		c := p.reader(owner, name, 12)
		v := c.assemble(box)
		if v.Acted || v.After < 9000 || v.Window.Tokens != 1_000_000 {
			t.Fatalf("%d tokens in %+v", v.After, v.Window)
		}
		used := v.After * 6 / 5
		over := refused(v, 400, fmt.Sprintf(`{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in %d tokens."}}`, used))
		v = c.assemble(over)
		if v.valid(t); !v.Acted || v.After > 8192 || v.Window.Tokens != 8192 || !strings.Contains(v.Window.Detail, "box:8000") || v.Report.Calibration < 1.15 {
			t.Fatalf("%q: acted %v, %d tokens in %+v, factor %g", name, v.Acted, v.After, v.Window, v.Report.Calibration)
		}
		first := strings.Join(v.items(t), "\n")
		if v = c.assemble(over); v.Acted || strings.Join(v.items(t), "\n") != first {
			t.Errorf("%q: the smaller view was reduced again, to %d tokens", name, v.After)
		}
		c.turn(10)
		if v = c.assemble(box); v.Window.Tokens != 8192 || v.After > 8192 || !strings.HasPrefix(strings.Join(v.items(t), "\n"), first) {
			t.Errorf("%q, the next request: %d tokens in %+v", name, v.After, v.Window)
		}
		if v = p.reader(owner, "other", 12).assemble(box); v.Window.Tokens != 8192 || v.After > 8192 {
			t.Errorf("%q, another conversation: %d tokens in %+v", name, v.After, v.Window)
		}
		if v = p.reader("two", name, 12).assemble(box); v.Window.Tokens != 1_000_000 || v.Acted {
			t.Errorf("%q, another owner: %+v", name, v.Window)
		}
		if v = p.reader(owner, "elsewhere", 12).assemble(""); v.Window.Tokens != 1_000_000 || v.Acted {
			t.Errorf("%q, another server: %+v", name, v.Window)
		}
	}
	p.stop()
	p = start(t, st, catalogWindow)
	for owner, want := range map[string]int{"one": 8192, "oneticket": 8192, "two": 1_000_000} {
		if v := p.reader(owner, "after", 12).assemble(box); v.Window.Tokens != want || v.Acted != (want == 8192) {
			t.Errorf("owner %s after a restart: %+v, acted %v", owner, v.Window, v.Acted)
		}
	}
}

// A refusal without a number, or with one far above the request, makes a smaller view for that request only.
// A second one without a number confirms the first when a smaller request was answered between them.
func TestARefusalWithoutANumberNeedsASecondOne(t *testing.T) {
	p := start(t, openStore(t), catalogWindow)
	c := p.reader("one", "ticket", 12)
	whole := c.assemble(box)
	for _, text := range []string{"prompt is too long", "This model's maximum context length is 9000000 tokens."} {
		v := c.assemble(refused(whole, 400, text))
		if v.valid(t); !v.Acted || v.After >= whole.After {
			t.Fatalf("%s: %d tokens after %d", text, v.After, whole.After)
		}
		if again := c.assemble(fmt.Sprintf(`%s,"reported":{"model":"m","tokens":%d,"input":%d}`, box, v.After, v.After)); again.Window.Tokens != 1_000_000 || again.After != whole.After {
			t.Fatalf("%s: the next view has %d tokens of %d, in %+v", text, again.After, whole.After, again.Window)
		}
	}
	c.turn(40)
	v := c.assemble(refused(c.assemble(box), 400, "prompt is too long"))
	if v.Window.Source != precis.SourceLearned || v.Window.Tokens >= whole.After || v.After > v.Window.Tokens {
		t.Errorf("%d tokens in %+v after two refusals of %d", v.After, v.Window, whole.After)
	}
}

// A body that has too many bytes gets a smaller view, and no window is learned. Errors about anything else
// change nothing.
func TestOtherRefusalsTeachNoWindow(t *testing.T) {
	p := start(t, openStore(t), catalogWindow)
	c := p.reader("one", "ticket", 12)
	whole := c.assemble(box)
	for _, other := range []struct {
		status int
		text   string
	}{
		{400, `{"error":{"message":"tools.0.name: String should match pattern"}}`},
		{422, "max_tokens must be at most 8192"},
		{429, "Rate limit reached: 8192 tokens per minute. Try again in 20s."},
		{500, "maximum number of windows"},
		{401, ""},
	} {
		if v := c.assemble(refused(whole, other.status, other.text)); v.Acted || v.Window != whole.Window || string(v.Messages) != string(whole.Messages) {
			t.Errorf("%d %s: acted %v, %+v", other.status, other.text, v.Acted, v.Window)
		}
	}
	foreign := strings.Replace(refused(whole, 400, "maximum context length is 8192 tokens"), `"model":"m"`, `"model":"n"`, 1)
	if v := c.assemble(foreign); v.Acted || v.Window != whole.Window {
		t.Errorf("of another model: acted %v, %+v", v.Acted, v.Window)
	}
	if v := c.assemble(refused(whole, 413, "Request Entity Too Large")); !v.Acted || v.After >= whole.After || v.Window != whole.Window {
		t.Errorf("bytes: %d tokens after %d, %+v", v.After, whole.After, v.Window)
	}
	for fields, place := range map[string]string{
		`"reported":{"status":200,"error":"x"}`:            "/reported/status",
		`"reported":{"error":"maximum context length"}`:    "/reported/status",
		`"reported":{"status":-1}`:                         "/reported/status",
		`"reported":{"status":600}`:                        "/reported/status",
		`"reported":{"status":"400"}`:                      "/reported/status",
		`"reported":{"status":400,"error":{"message":""}}`: "/reported/error",
		`"reported":{"status":400,"input":7}`:              "/reported/input",
		`"server":"a\nb"`:                                  "/server",
		`"server":` + quote(strings.Repeat("a", 201)):      "/server",
		`"server":8000`:                                    "/server",
	} {
		if status, text := answerOf(p.send("POST", "/assemble", c.body(","+fields))); status != http.StatusBadRequest || !strings.Contains(text, place) {
			t.Errorf("%s: %d %s", fields, status, text)
		}
	}
}
