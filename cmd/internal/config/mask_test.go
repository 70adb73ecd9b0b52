package config_test

import (
	"testing"

	"github.com/precis-dev/precis/cmd/internal/config"
)

func TestSecretsAreMasked(t *testing.T) {
	for _, tt := range []struct{ key, value, want string }{
		{"gateway.store", "postgres://svc:SuperSecretPw@db.example/p?sslmode=require&password=pw2", "postgres://svc:…@db.example/p?password=…&sslmode=require"},
		{"gateway.store", "/var/lib/precis.db", "/var/lib/precis.db"},
		{"gateway.store", "memory", "memory"},
		{"summarizer.url", "https://token@llm.example/v1", "https://…@llm.example/v1"},
		{"gateway.webhook", "https://hooks.slack.example/services/T0/B0/xyz", "https://hooks.slack.example/…"},
		{"gateway.webhook", "https://hooks.example", "https://hooks.example"},
		{"gateway.others", "groq=https://a:b@groq.example/v1,x=http://h/?key=k", "groq=https://a:…@groq.example/v1,x=http://h/?key=…"},
		{"gateway.upstream", "https://proxy.example/team-a#", "https://proxy.example/team-a#"},
		{"gateway.upstream", "https://u:p%zz@x", "…"},
		{"summarizer.url", "https://x/?api-version=1", "https://x/?api-version=…"},
		{"hooks.before", "curl -H 'Authorization: Bearer s3cret' https://x", "curl …"},
		{"hooks.before", "notify", "notify"},
		{"hooks.alert", "TOKEN=s3cret notify", "…"},
		{"hooks.after", "https://u:p@h/x", "https://h/…"},
		{"hooks.after", "", ""},
		{"rungs", "dedupe,clip", "dedupe,clip"},
	} {
		c, err := config.Load(config.Sources{Flags: map[string]string{tt.key: tt.value}})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range c.Rows() {
			if got := r.Masked().Value; r.Key == tt.key && got != tt.want {
				t.Errorf("%s %q is shown as %q, want %q", tt.key, tt.value, got, tt.want)
			}
			if r.Key == tt.key && r.Value != tt.value {
				t.Errorf("%s is %q, want %q", tt.key, r.Value, tt.value)
			}
		}
	}
}
