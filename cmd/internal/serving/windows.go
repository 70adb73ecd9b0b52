package serving

import (
	"cmp"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/precis-dev/precis/cmd/internal/command"
	"github.com/precis-dev/precis/cmd/internal/running"
	"github.com/precis-dev/precis/gateway/windows"
)

// showWindows shows and deletes what a running gateway has learned about context windows.
type showWindows struct {
	*command.Tools
	forget   bool
	upstream string
	keyFile  string
}

// NewWindows makes the command windows.
func NewWindows(t *command.Tools) *cobra.Command {
	c := &showWindows{Tools: t}
	cmd := &cobra.Command{
		Use:   "windows [MODEL]",
		Short: "Show what the running gateway takes the windows of models to be, and why",
		Long: `Show what the gateway that runs at gateway.listen takes the context windows of
models to be, and the evidence: what the server states, the limits that errors
stated, requests that were refused without a number, and the largest one that
was answered. A window that you set wins over all of it. Evidence against a
larger window expires by itself.

With --forget what was learned is forgotten, of all models or of one; servers
are asked again at the next request.`,
		Example: `  precis windows
  precis windows claude-sonnet-4-5 --forget`,
		Args: command.Takes("[MODEL]"),
		RunE: c.run,
	}
	cmd.Flags().BoolVar(&c.forget, "forget", false, "forget what was learned")
	cmd.Flags().StringVar(&c.upstream, "upstream", "", "only the windows at the upstream `NAME`")
	cmd.Flags().StringVar(&c.keyFile, "key-file", "", "`FILE` with your key of a gateway that asks for keys")
	return cmd
}

func (c *showWindows) run(cmd *cobra.Command, args []string) error {
	cfg, err := c.Jobs.Config()
	if err != nil {
		return err
	}
	gw, err := running.Open(cfg.Gateway, c.keyFile)
	if err != nil {
		return err
	}
	model := ""
	if len(args) == 1 {
		model = args[0]
	}
	if c.forget {
		var out struct {
			Forgotten int `json:"forgotten"`
		}
		if err := gw.Do(cmd.Context(), http.MethodPost, "/windows/forget",
			map[string]string{"upstream": c.upstream, "model": model}, &out); err != nil {
			return err
		}
		if c.AsJSON {
			return c.JSON(out)
		}
		c.Line("forgot %s", c.Words.Count(out.Forgotten, "window"))
		return nil
	}
	var list struct {
		Items []windows.Entry `json:"items"`
	}
	if err := gw.Do(cmd.Context(), http.MethodGet, "/windows", nil, &list); err != nil {
		return err
	}
	items := []windows.Entry{}
	for _, w := range list.Items {
		if (model == "" || w.Model == model) && (c.upstream == "" || w.Upstream == c.upstream) {
			items = append(items, w)
		}
	}
	if c.AsJSON {
		return c.JSON(items)
	}
	c.print(items)
	return nil
}

func (c *showWindows) print(items []windows.Entry) {
	c.Text.Title("%s", c.Words.Count(len(items), "window"))
	var rows [][]string
	for _, w := range items {
		rows = append(rows, []string{w.Upstream, w.Model, c.Words.Number(w.Window.Tokens),
			c.Words.Text(string(w.Window.Source)), c.evidence(w)})
	}
	if len(rows) > 0 {
		c.Text.Table(c.Words.Heads("upstream", "model", "window", "from", "evidence"), []int{2}, rows)
	}
}

// evidence describes the observations for a window and against it.
func (c *showWindows) evidence(w windows.Entry) string {
	var out []string
	add := func(tokens int, what string, at time.Time) {
		if tokens > 0 {
			out = append(out, c.Words.Text(what, c.Words.Number(tokens),
				at.Local().Format("2006-01-02 15:04")))
		}
	}
	if w.Server > 0 {
		out = append(out, c.Words.Text("%s states %s at %s", w.Answer, c.Words.Number(w.Server),
			w.Asked.Local().Format("2006-01-02 15:04")))
	} else if w.Answer != "" {
		out = append(out, c.Words.Sentence(w.Answer))
	}
	add(w.Stated, "an error stated %s at %s", w.StatedAt)
	add(w.Refused, "refused above %s at %s", w.RefusedAt)
	add(w.Accepted, "answered %s at %s", w.AcceptedAt)
	return cmp.Or(strings.Join(out, c.Words.Say("semicolon")), c.Words.Sentence(w.Window.Detail))
}
