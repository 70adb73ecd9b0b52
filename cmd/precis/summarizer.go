package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"precis"
	"precis/cmd/internal/config"
	"precis/condense"
	"precis/models"
	"precis/preset"
	"precis/provider"
	"precis/store/sqlite"
)

// Ways of writing summaries, see --summarizer.
const (
	byModel  = "model"  // it must be configured
	byDigest = "digest" // no model is called
)

// condensing returns how a model condenses; nil when none does.
func (a *app) condensing(ctx context.Context, j *job, way string) (*preset.Condensing, error) {
	const op = "choose summarizer"
	c := j.cfg.Summarizer
	switch way {
	case "", byModel:
	case byDigest:
		return nil, nil
	default:
		return nil, precis.Errorf(precis.CodeInvalid, op, "--summarizer is %q, want %s or %s", way, byModel, byDigest)
	}
	if c.Model == "" {
		if way == byModel {
			return nil, &precis.Error{Code: precis.CodeInvalid, Op: op, Err: fmt.Errorf("no model is configured"),
				Hint: "name one with --set summarizer.model=NAME; precis config lists the keys"}
		}
		return nil, nil
	}
	client, err := j.client(c)
	if err != nil {
		return nil, err
	}
	own, err := j.own()
	if err != nil {
		return nil, err
	}
	prompt := condense.Prompt{Template: c.Template}
	if prompt.Custom, err = textOf(c.PromptFile, "summarizer.prompt_file"); err != nil {
		return nil, err
	}
	if prompt.Rules, err = textOf(c.RulesFile, "summarizer.rules_file"); err != nil {
		return nil, err
	}
	store := a.summaries(ctx, c.Cache)
	j.ledger, _ = store.(precis.Ledger)
	return &preset.Condensing{
		Writer:    condense.WriterConfig{Model: client, Fallback: own, Prompt: prompt, MaxTokens: c.MaxTokens, Cache: store, SelfCheck: c.SelfCheck, Hooks: hooks(j.cfg.Hooks)},
		Mode:      condense.Mode(c.Mode),
		Selective: c.Selective,
		Price:     j.price(client),
	}, nil
}

// summaries opens the file that keeps summaries; without it they are kept for
// this run alone.
func (a *app) summaries(ctx context.Context, path string) precis.SummaryStore {
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
			a.warn("summaries are not kept: %v", err)
			return condense.NewCache(0)
		}
	}
	store, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		a.warn("summaries are not kept: %v", err)
		return condense.NewCache(0)
	}
	a.closing = append(a.closing, store.Close)
	return store
}

// own makes the conversation's own model, to fall back to; nil when it is the
// summarizer itself, nobody knows it, or there is no key for its API.
func (j *job) own() (precis.Model, error) {
	c := config.Summarizer{Model: j.model, Timeout: j.cfg.Summarizer.Timeout}
	catalogue, err := loadCatalogue(j.cfg.ModelsFile)
	if err != nil {
		return nil, err
	}
	known, ok := catalogue.Find(j.model)
	if !ok || j.model == j.cfg.Summarizer.Model || known.Provider != "anthropic" && known.Provider != "openai" || os.Getenv(keyEnv(c)) == "" {
		return nil, nil
	}
	return j.client(c)
}

// keyEnv names the environment variable that holds the key of a profile's API.
func keyEnv(c config.Summarizer) string {
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

// client makes the model that a profile names.
func (j *job) client(c config.Summarizer) (*provider.Client, error) {
	catalogue, err := loadCatalogue(j.cfg.ModelsFile)
	if err != nil {
		return nil, err
	}
	known, _ := catalogue.Find(c.Model)
	transport := http.DefaultTransport.(*http.Transport).Clone() // with the proxies of the environment
	return provider.New(provider.Config{
		Dialect: dialectOf(c), BaseURL: c.URL, Key: os.Getenv(keyEnv(c)), Model: c.Model, Prices: known.Prices,
		Info:       precis.ModelInfo{Provider: known.Provider, Window: catalogue.Window(c.Model), MaxOutput: known.MaxOutput.Tokens, Images: known.Images},
		Timeout:    time.Duration(c.Timeout) * time.Second,
		HTTPClient: &http.Client{Transport: transport},
	})
}

// price prices a summary for a dry run: with the summarizer, and with the
// conversation's own model where that is another one.
func (j *job) price(client *provider.Client) func(input, output int) string {
	return func(input, output int) string {
		u := precis.Usage{Input: input, Output: output}
		text := fmt.Sprintf("about $%.4f with %s", client.Price(u), client.Info().ID)
		catalogue, err := loadCatalogue(j.cfg.ModelsFile)
		if err != nil || j.model == "" || j.model == client.Info().ID {
			return text
		}
		if own, ok := catalogue.Find(j.model); ok {
			protocol := models.OpenAI
			if own.Family == "claude" {
				protocol = models.Anthropic
			}
			text += fmt.Sprintf(", $%.4f with %s", models.Cost(protocol, own.Prices, u, "").USD, j.model)
		}
		return text
	}
}

// textOf reads the file that a key names; "" when it names none.
func textOf(path, key string) (string, error) {
	if path == "" {
		return "", nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", &precis.Error{Code: precis.CodeNotFound, Op: "read " + key, Place: path, Err: err}
	}
	return string(data), nil
}
