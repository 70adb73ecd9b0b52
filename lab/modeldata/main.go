// Command modeldata writes the embedded model catalog from tables that other programs publish, and
// lists missing models.
//
//	go -C lab run ./modeldata -catwalk NEW,OLD -pi DIR >../models/catalog.json
//	go -C lab run ./modeldata -missing DIR
//
// A directory of -catwalk has the provider files of a version of charm.land/catwalk
// (internal/providers/configs), one of -pi the files of @earendil-works/pi-ai
// (dist/providers/data). Each table adds the models that earlier tables lack: an old version has
// models that are no longer served but occur in recordings. Of two windows of a model the larger
// one is used. -missing prints the makers' models in a -pi directory that the catalog lacks.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/precis-dev/precis/models"
)

type provider struct {
	ID     string         `json:"id"`
	Models []models.Entry `json:"models"`
}

// makers maps providers of pi-ai to their IDs in the catalog.
var makers = map[string]string{
	"anthropic": "anthropic", "openai": "openai", "google": "gemini", "xai": "xai", "moonshotai": "moonshot",
	"zai": "zai", "minimax": "minimax",
	"deepseek": "deepseek", "mistral": "mistral", "kimi-coding": "kimi",
}

func main() {
	catwalk := flag.String("catwalk", "", "directories of provider files of catwalk, separated by commas")
	pi := flag.String("pi", "", "directory of provider files of pi-ai")
	missing := flag.String("missing", "", "directory of provider files of pi-ai to compare with the catalog")
	flag.Parse()
	err := func() error {
		if *missing != "" {
			return compare(*missing)
		}
		return write(*catwalk, *pi)
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "modeldata: error:", err)
		os.Exit(1)
	}
}

func write(catwalk, pi string) error {
	all := map[string][]models.Entry{}
	add := func(id string, list []models.Entry) {
		for _, e := range list {
			// with or without a date
			same := func(o models.Entry) bool { return o.ID == e.ID || strings.HasPrefix(o.ID, e.ID+"-20") }
			if !slices.ContainsFunc(all[id], same) {
				all[id] = append(all[id], e)
			}
		}
	}
	for _, dir := range strings.Split(catwalk, ",") {
		files, err := filepath.Glob(filepath.Join(dir, "*.json"))
		if err != nil || len(files) == 0 {
			return fmt.Errorf("no provider files in %q (%v)", dir, err)
		}
		for _, file := range files {
			var p provider
			if err := read(file, &p); err != nil {
				return err
			}
			add(p.ID, p.Models)
		}
	}
	added, err := entriesOf(pi)
	if err != nil {
		return err
	}
	for id, list := range added {
		for i, e := range all[id] {
			// one table may have a raised window, another the smaller one of a subscription
			if k := slices.IndexFunc(list, func(o models.Entry) bool { return o.ID == e.ID }); k >= 0 {
				all[id][i].Window = max(e.Window, list[k].Window)
			}
		}
		add(id, list)
	}
	fmt.Print("[")
	for i, id := range slices.Sorted(maps.Keys(all)) {
		if i > 0 {
			fmt.Print(",")
		}
		fmt.Printf("\n{\"id\": %q, \"models\": [", id)
		for k, e := range all[id] {
			if k > 0 {
				fmt.Print(",")
			}
			line, err := json.Marshal(e)
			if err != nil {
				return err
			}
			fmt.Printf("\n%s", line)
		}
		fmt.Print("]}")
	}
	fmt.Println("\n]")
	return nil
}

// entriesOf reads the tables of pi-ai: the makers' chat models by the provider's ID in the catalog.
func entriesOf(dir string) (map[string][]models.Entry, error) {
	out := map[string][]models.Entry{}
	if dir == "" {
		return out, nil
	}
	for file, id := range makers {
		var apis map[string]map[string]struct {
			ID, Name, Type string
			ContextWindow  int
			MaxTokens      int
			Reasoning      bool
			Input          []string
			Cost           struct{ Input, Output, CacheRead, CacheWrite float64 }
		}
		if err := read(filepath.Join(dir, file+".json"), &apis); err != nil {
			return nil, err
		}
		for _, api := range slices.Sorted(maps.Keys(apis)) {
			for _, key := range slices.Sorted(maps.Keys(apis[api])) {
				m := apis[api][key]
				if m.Type != "chat" || slices.ContainsFunc(out[id],
					func(o models.Entry) bool { return o.ID == m.ID }) {
					continue
				}
				out[id] = append(out[id], models.Entry{
					ID: m.ID, Name: m.Name, Window: m.ContextWindow, Output: m.MaxTokens,
					Reasons: m.Reasoning,
					Images:  slices.Contains(m.Input, "image"),
					In:      m.Cost.Input, Out: m.Cost.Output, InCached: m.Cost.CacheWrite,
					OutCached: m.Cost.CacheRead,
				})
			}
		}
	}
	return out, nil
}

func compare(dir string) error {
	list, err := entriesOf(dir)
	if err != nil {
		return err
	}
	catalog, err := models.New(models.Options{})
	if err != nil {
		return err
	}
	var names []string
	for id, entries := range list {
		for _, e := range entries {
			if _, ok := catalog.Find(id + "/" + e.ID); !ok {
				names = append(names, id+"/"+e.ID)
			}
		}
	}
	slices.Sort(names)
	if len(names) > 0 {
		fmt.Printf("warning: the catalog lacks %d models: %s\n", len(names), strings.Join(names, ", "))
	}
	return nil
}

func read(file string, into any) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}
