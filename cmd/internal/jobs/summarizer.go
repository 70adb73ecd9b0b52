package jobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/cmd/internal/config"
	"github.com/precis-dev/precis/cmd/internal/term"
	"github.com/precis-dev/precis/condense"
	"github.com/precis-dev/precis/model"
	"github.com/precis-dev/precis/models"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/provider"
	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/store/sqlite"
)

// Values of --summarizer.
const (
	byModel  = "model"  // requires a configured model
	byDigest = "digest" // no model is called
)

// condensing returns how a model condenses; nil: without one. A dry run calls no model and needs no
// key.
func (o *Opener) condensing(ctx context.Context, j *Job, way string, dry bool) (*preset.Condensing, error) {
	const op = "choose summarizer"
	c := j.Config.Summarizer
	switch way {
	case "", byModel:
	case byDigest:
		return nil, nil
	default:
		return nil, precis.Errorf(precis.CodeInvalid, op, "--summarizer is %q, want %s or %s", way, byModel,
			byDigest)
	}
	if c.Model == "" {
		if way == byModel {
			return nil, &precis.Error{Code: precis.CodeInvalid, Op: op,
				Err:  fmt.Errorf("no model is configured"),
				Hint: "name one with --set summarizer.model=NAME; precis config lists the keys"}
		}
		return nil, nil
	}
	if err := usable(j.catalog, c); err != nil {
		if !dry {
			return nil, err
		}
		o.console.Warn("%v", err)
	}
	writer, err := newClient(j.catalog, c)
	if err != nil {
		return nil, err
	}
	by, err := condensingBy(j.Config)
	if err != nil {
		return nil, err
	}
	cache := o.summaries(ctx, c.Cache)
	j.ledger, _ = cache.(precis.Ledger)
	by.Writer.Model, by.Writer.Cache, by.Price = writer, cache, j.price(writer)
	return by, nil
}

// condensingBy returns how a model condenses by the configuration, without the model.
func condensingBy(c *config.Config) (*preset.Condensing, error) {
	s := c.Summarizer
	prompt, err := promptOf(s)
	if err != nil {
		return nil, err
	}
	return &preset.Condensing{
		Writer:    condense.WriterConfig{Prompt: prompt, Hooks: hooks(c.Hooks)},
		Selective: s.Selective, Reasoning: s.Reasoning,
	}, nil
}

// keyOf returns an error if the API belongs to the model's maker and there is no key for it.
// Servers at other addresses may not need one.
func keyOf(c config.Summarizer) error {
	if c.URL != "" || os.Getenv(KeyEnv(c)) != "" {
		return nil
	}
	return &precis.Error{Code: precis.CodeInvalid, Op: "choose summarizer",
		Err:  fmt.Errorf("there is no key for %s: %s is not set", c.Model, KeyEnv(c)),
		Hint: "export " + KeyEnv(c) + "=…, or give --summarizer digest for a summary without a model"}
}

// summaries opens the file that caches summaries. Without it they are cached for this run only.
func (o *Opener) summaries(ctx context.Context, path string) store.Summaries {
	if path == "off" {
		return nil
	}
	if path == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			return condense.NewCache(0)
		}
		path = filepath.Join(dir, "precis", "summaries.db")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			o.console.Warn("summaries are not kept: %v", err)
			return condense.NewCache(0)
		}
	}
	file, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		o.console.Warn("summaries are not kept: %v", err)
		return condense.NewCache(0)
	}
	o.OnClose(file.Close)
	return file
}

// usable returns why a summarizer cannot be used; nil: no known reason. Other reasons, known only
// to its API, appear at the first summary.
func usable(catalog *models.Catalog, c config.Summarizer) error {
	if _, known := catalog.Find(c.Model); !known && c.URL == "" && !isServedByDefault(c.Model) {
		return &precis.Error{Code: precis.CodeInvalid, Op: "choose summarizer",
			Err:  fmt.Errorf("no model is known by the name %.80q", c.Model),
			Hint: "precis models lists names; for a server of your own set summarizer.url"}
	}
	return keyOf(c)
}

// isServedByDefault reports whether the default API serves models with such a name: a model may be newer than
// the catalog.
func isServedByDefault(name string) bool {
	family := models.Family(strings.ToLower(name))
	return family == "claude" || family == "gpt"
}

// KeyEnv returns the name of the environment variable with the key of a summarizer's API.
func KeyEnv(c config.Summarizer) string {
	name := "OPENAI_API_KEY"
	if dialectOf(c) == "anthropic" {
		name = "ANTHROPIC_API_KEY"
	}
	return cmp.Or(c.KeyEnv, name)
}

func dialectOf(c config.Summarizer) string {
	if c.Dialect == "" && models.Family(c.Model) == "claude" {
		return "anthropic"
	}
	return c.Dialect
}

// newClient makes a client for the configured model.
func newClient(catalog *models.Catalog, c config.Summarizer) (*provider.Client, error) {
	known, _ := catalog.Find(c.Model)
	// respects the proxy settings of the environment
	transport := http.DefaultTransport.(*http.Transport).Clone()
	return provider.New(provider.Config{
		Dialect: dialectOf(c), BaseURL: c.URL, Key: os.Getenv(KeyEnv(c)), Model: c.Model,
		Prices: known.Prices,
		Info: model.Info{Provider: known.Provider, Window: catalog.Window(c.Model),
			MaxOutput: known.MaxOutput.Tokens, Images: known.Images},
		Timeout:    time.Duration(c.Timeout) * time.Second,
		HTTPClient: &http.Client{Transport: transport},
	})
}

// price describes the price of a summary for a dry run: with the summarizer, and with the
// conversation's own model if that differs.
func (j *Job) price(client *provider.Client) func(input, output int) string {
	return func(input, output int) string {
		u := precis.Usage{Input: input, Output: output}
		text := fmt.Sprintf("about %s with %s", term.Dollars(client.Price(u)), client.Info().ID)
		if j.Model == "" || j.Model == client.Info().ID {
			return text
		}
		if own, ok := j.catalog.Find(j.Model); ok {
			protocol := models.OpenAI
			if own.Family == "claude" {
				protocol = models.Anthropic
			}
			text += fmt.Sprintf(", %s with %s", term.Dollars(models.Cost(protocol, own.Prices, u, "").USD),
				j.Model)
		}
		return text
	}
}

// promptOf returns the prompt for summaries, with the files it names.
func promptOf(c config.Summarizer) (p condense.Prompt, err error) {
	p.Template, p.Custom = c.Template, c.Prompt
	if c.Prompt == "" && c.PromptFile != "" {
		if p.Custom, err = textOf(c.PromptFile, "summarizer.template"); err != nil {
			return p, err
		}
	}
	p.Rules, err = textOf(c.RulesFile, "summarizer.rules_file")
	return p, err
}

// textOf reads the file named by a key; "" for an empty path.
func textOf(path, key string) (string, error) {
	if path == "" {
		return "", nil
	}
	data, err := archive.ReadFile(path)
	if err != nil {
		return "", &precis.Error{Code: precis.CodeNotFound, Op: "read " + key, Place: path,
			Err: errors.Unwrap(err)}
	}
	return string(data), nil
}
