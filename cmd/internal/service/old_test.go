package service_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precis-dev/precis/cmd/internal/config"
	"github.com/precis-dev/precis/cmd/internal/jobs"
	"github.com/precis-dev/precis/cmd/internal/service"
)

// Files of versions 0.2 and 0.3 start the gateway, which manages a turn: one file has every key that there
// was, the other what the documents showed. Each key that is out of date is named once.
func TestFilesOfEarlierVersions(t *testing.T) {
	for name, warnings := range map[string]int{"every": 46, "documents": 5} {
		data, err := os.ReadFile(filepath.Join("testdata", "old", name+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		var c *config.Config
		s := open(t, string(data), func(p *service.Parts) {
			c = p.Config
			p.Condensing = (&jobs.Opener{}).GatewayCondensing
			p.Load = func(path string) (*config.Config, error) { return config.Load(config.Sources{Path: path}) }
			for file, text := range map[string]string{"rules.md": "Be brief.", "prompt.txt": "Sum it up.", "careful.yaml": "keep: {first: 2}\n", "secret": "a secret of many bytes", "models.yaml": "models: [{id: mine, window: 50000}]\n"} {
				if err := os.WriteFile(filepath.Join(filepath.Dir(c.File), file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		})
		if got := s.ask("POST", "/v1/messages", hello(0)); got.Code != 200 {
			t.Errorf("%s: %d %s", name, got.Code, got.Body)
		}
		if len(c.Warnings) != warnings {
			t.Errorf("%s: %d warnings, want %d:\n%s", name, len(c.Warnings), warnings, strings.Join(c.Warnings, "\n"))
		}
		if name == "every" && (!strings.Contains(s.log.String(), "keep.first is out of date") || c.Gateway.Proxy != config.Off || !c.Gateway.Public || !c.Gateway.MCPEdits || c.Gateway.KeyFile == "" || c.Summarizer.PromptFile == "") {
			t.Errorf("%+v %+v\n%s", c.Gateway, c.Summarizer, s.log)
		}
	}
}
