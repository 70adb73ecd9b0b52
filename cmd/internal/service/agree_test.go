package service

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/config"
	"github.com/precis-dev/precis/store/memory"
)

func TestReplicasMustAgree(t *testing.T) {
	t.Parallel()
	st := memory.New()
	var log bytes.Buffer
	start := func(secret string, change func(*config.Config)) error {
		log.Reset()
		c := &config.Config{Window: 100_000}
		c.Settings.Preset = "balanced"
		if change != nil {
			change(c)
		}
		return checkReplicas(t.Context(), st, agreedOf(c, []byte(secret)), slog.New(slog.NewTextHandler(&log, nil)))
	}
	if err := start("one secret of many bytes", nil); err != nil || log.Len() > 0 {
		t.Fatalf("the first: %v %s", err, &log)
	}
	if err := start("one secret of many bytes", nil); err != nil || log.Len() > 0 {
		t.Fatalf("its like: %v %s", err, &log)
	}
	err := start("another secret of as many", nil)
	if precis.CodeOf(err) != precis.CodeConflict || !strings.Contains(err.(*precis.Error).Hint, "gateway.secret_file") {
		t.Errorf("another secret: %v", err)
	}
	rows, _ := st.LoadWindows(t.Context())
	if s := string(rows[replicaSettingsRow]); strings.Contains(s, "secret of many") || !strings.Contains(s, "balanced") {
		t.Errorf("what is stored: %s", s)
	}
	for name, change := range map[string]func(*config.Config){
		"window": func(c *config.Config) { c.Window = 5 },
		"preset": func(c *config.Config) { c.Settings.Preset = "frugal" },
	} {
		if err := start("one secret of many bytes", change); err != nil || !strings.Contains(log.String(), "setting="+name) {
			t.Errorf("%s: %v %s", name, err, &log)
		}
		if err := start("one secret of many bytes", nil); err != nil || !strings.Contains(log.String(), "setting="+name) {
			t.Errorf("%s, back again: %v %s", name, err, &log)
		}
	}
	if err := ForgetSecret(t.Context(), st); err != nil {
		t.Fatal(err)
	}
	if err := start("another secret of as many", nil); err != nil {
		t.Errorf("after it was forgotten: %v", err)
	}
}
