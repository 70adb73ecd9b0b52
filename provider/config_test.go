package provider

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/precis-dev/precis"
)

func TestConfigIsChecked(t *testing.T) {
	const secret = "sk-ant\nsecret"
	tests := []struct {
		field  string
		change func(*Config)
	}{
		{"Model", func(c *Config) { c.Model = "" }},
		{"Dialect", func(c *Config) { c.Dialect = "gemini" }},
		{"BaseURL", func(c *Config) { c.BaseURL = "localhost:8080" }},
		{"BaseURL", func(c *Config) { c.BaseURL = "ftp://host" }},
		{"BaseURL", func(c *Config) { c.BaseURL = "http://user:secret@host" }},
		{"BaseURL", func(c *Config) { c.BaseURL = "http://host/?key=secret" }},
		{"BaseURL", func(c *Config) { c.BaseURL = "http://secret host/" }},
		{"Key", func(c *Config) { c.Key = secret }},
		{"Headers", func(c *Config) { c.Headers = map[string][]string{"X Y": nil} }},
		{"Headers", func(c *Config) { c.Headers = map[string][]string{"X-Key": {secret}} }},
		{"Headers", func(c *Config) { c.Headers = map[string][]string{"content-length": {"1"}} }},
		{"Timeout", func(c *Config) { c.Timeout = -1 }},
		{"Idle", func(c *Config) { c.Idle = -1 }},
		{"MaxWait", func(c *Config) { c.MaxWait = -1 }},
		{"Breaker.Cooldown", func(c *Config) { c.Breaker.Cooldown = -1 }},
	}
	for _, tt := range tests {
		c := Config{Model: "m"}
		tt.change(&c)
		_, err := New(c)
		var e *precis.Error
		if !errors.As(err, &e) || e.Code != precis.CodeInvalid || e.Place != tt.field {
			t.Errorf("%s: %v", tt.field, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error quotes a secret: %v", tt.field, err)
		}
	}
}

func TestConfigDefaults(t *testing.T) {
	for _, tt := range []struct{ model, dialect, base, wantDialect, wantBase string }{
		{"claude-opus-4-6", "", "", "anthropic", "https://api.anthropic.com"},
		{"gpt-5", "", "", "chat", "https://api.openai.com/v1"},
		{"gpt-5", "responses", "", "responses", "https://api.openai.com/v1"},
		{"claude-opus-4-6", "chat", "https://host/api/v1/", "chat", "https://host/api/v1"},
		{"claude-opus-4-6", "", "https://host/anthropic/v1/", "anthropic", "https://host/anthropic"},
	} {
		c, err := New(Config{Model: tt.model, Dialect: tt.dialect, BaseURL: tt.base})
		if err != nil {
			t.Fatal(err)
		}
		if c.Info().Dialect != tt.wantDialect || c.Info().ID != tt.model || c.config.BaseURL != tt.wantBase {
			t.Errorf("%+v at %s", c.Info(), c.config.BaseURL)
		}
	}
	c, err := New(Config{Model: "m", Retries: -1, Timeout: time.Second})
	if err != nil || c.config.Retries != 0 || c.config.Timeout != time.Second || c.config.Idle != defaultIdle || c.config.Breaker.Failures != defaultFailures {
		t.Errorf("%+v, %v", c.config, err)
	}
	c, err = New(Config{Model: "m", Key: testKey, Headers: map[string][]string{"Authorization": {testKey}}})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(Config{Key: testKey, Headers: c.config.Headers})
	if text := fmt.Sprintf("%v %+v %s", c, c.config, raw); err != nil || strings.Contains(text, testKey) {
		t.Errorf("the key can be seen: %s, %v", text, err)
	}
	if c, err = New(Config{Model: "m"}); err != nil || c.config.Retries != defaultRetries {
		t.Errorf("%+v, %v", c.config, err)
	}
}
