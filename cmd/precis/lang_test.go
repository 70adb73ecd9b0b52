package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/console"
	"github.com/precis-dev/precis/cmd/internal/term"
	"github.com/precis-dev/precis/internal/texts"
)

// saidKeys returns the keys of texts that the code of the command line names.
func saidKeys(t *testing.T) []string {
	t.Helper()
	var out []string
	add := func(prefix string, names ...string) {
		for _, n := range names {
			out = append(out, prefix+n)
		}
	}
	for _, code := range []precis.Code{precis.CodeInvalid, precis.CodeNotFound, precis.CodeConflict, precis.CodeOverBudget, precis.CodeWouldLose, precis.CodeUpstream, precis.CodeCanceled, precis.CodeInternal, "usage"} {
		add("code.", string(code))
	}
	for _, k := range []precis.EditKind{
		precis.KindCondensation, precis.KindTruncation, precis.KindPruning, precis.KindDedupe, precis.KindMedia, precis.KindClip, precis.KindThinking, precis.KindRestore,
	} {
		add("means.", string(k))
	}
	add("through.", "digest", "summary", "marker")
	add("", "error", "hint", "warning", "note", "pinned", "restored", "rewound", "rewoundto")
	say := regexp.MustCompile(`\bSay\("([a-z._]+)"`)
	for _, folder := range []string{".", "../internal/reports", "../internal/console", "../internal/jobs", "../internal/statusline", "../internal/launch"} {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range say.FindAllSubmatch(data, -1) {
				if !bytes.HasSuffix(m[1], []byte(".")) {
					add("", string(m[1]))
				}
			}
		}
	}
	return out
}

// Every text of the command line exists in every language, and no unused text is left. Package
// dashboard checks that the arguments of all texts agree.
func TestTheCommandLineSpeaksEveryLanguage(t *testing.T) {
	all, err := texts.Read()
	if err != nil {
		t.Fatal(err)
	}
	keys := saidKeys(t)
	for _, lang := range texts.Languages() {
		for _, key := range keys {
			if all[lang]["cli."+key] == "" {
				t.Errorf("%s lacks %q", lang, "cli."+key)
			}
		}
	}
	for key := range all["en"] {
		if name, ok := strings.CutPrefix(key, "cli."); ok && !slices.Contains(keys, name) {
			t.Errorf("nothing says %q", key)
		}
	}
}

// Results and errors are in the language of --lang, else of LANG.
func TestResultsAreInTheLanguageOfTheUser(t *testing.T) {
	recording, err := os.ReadFile("../../examples/add-a-counter.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for env, want := range map[string]string{"fr_FR.UTF-8": "fr", "ja_JP": "ja", "zh_CN.UTF-8": "zh", "C.UTF-8": "en", "de_DE": "en", "": "en"} {
		if got := console.LanguageOf(func(name string) string { return map[string]string{"LANG": env}[name] }); got != want {
			t.Errorf("LANG=%s: %s, want %s", env, got, want)
		}
	}
	if got := console.LanguageOf(func(name string) string { return map[string]string{"LANG": "ja_JP", "LC_ALL": "fr_FR"}[name] }); got != "fr" {
		t.Errorf("LC_ALL counts less than LANG: %s", got)
	}
	for lang, wants := range map[string][5]string{
		"en": {"reduced from", "166 of 166 facts likely to be needed again", "took back 2 edits: dedupe", "left alone:", "precis: error: open"},
		"fr": {"réduite de", "166 sur 166 faits dont on aura sans doute besoin", "annulé 2 modifications : ", "laissée telle quelle", "precis: erreur: cela n’existe pas (open"},
		"ja": {"トークンに縮小", "再び要りそうなもの 166", "編集 2 件を取り消しました", "そのまま", "precis: エラー: 存在しません (open"},
		"zh": {"个 token，占窗口的", "可能再用到的 166", "撤销了2 次编辑", "未改动", "precis: 错误: 不存在 (open"},
	} {
		t.Run(lang, func(t *testing.T) {
			t.Chdir(t.TempDir())
			t.Setenv("HOME", t.TempDir())
			t.Setenv("XDG_CONFIG_HOME", t.TempDir())
			if err := os.WriteFile("a.jsonl", recording, 0o600); err != nil {
				t.Fatal(err)
			}
			say := func(streams console.Streams, args ...string) string {
				var out, notes bytes.Buffer
				to := term.Options{Terminal: true, Columns: 200}
				streams.In, streams.Out, streams.Errs, streams.OutTo, streams.ErrsTo = strings.NewReader(""), &out, &notes, to, to
				run(t.Context(), args, streams)
				return out.String() + notes.String()
			}
			env, flag := console.Streams{Lang: lang}, console.Streams{Lang: "de"}
			first := say(env, "condense", "--window", "64k", "a.jsonl")
			for _, want := range wants[:2] {
				if !strings.Contains(first, want) {
					t.Errorf("no %q in\n%s", want, first)
				}
			}
			for i, text := range []string{say(flag, "undo", "--lang", lang, "a.precis"), say(env, "condense", "--target", "100%", "-o", "b.precis", "--window", "1m", "a.jsonl"), say(env, "inspect", "missing.json")} {
				if !strings.Contains(text, wants[2+i]) {
					t.Errorf("no %q in\n%s", wants[2+i], text)
				}
			}
		})
	}
	var notes bytes.Buffer
	if code := run(t.Context(), []string{"version", "--lang", "tlh"}, console.Streams{In: strings.NewReader(""), Out: &notes, Errs: &notes}); code != 2 || !strings.Contains(notes.String(), "en, zh, ja, fr") {
		t.Errorf("an unknown language: exit code %d, %s", code, notes.String())
	}
}

// Errors of the command line and notes are whole sentences of one language, with all their values.
func TestNoEnglishInside(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range map[string]string{"precis.yaml": "threshold: 60\n", "r.jsonl": `{"role":"user","content":"hi"}` + "\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for args, want := range map[string][]string{
		"inspect a b": {"erreur", "prend un FILE"}, "inspect r.jsonl": {"définit 1 valeur", "supposée : l’enregistrement ne nomme aucun modèle"}, "config": {"precis.yaml (ce dossier)"},
	} {
		var out bytes.Buffer
		run(t.Context(), append(strings.Fields(args), "--lang", "fr"), console.Streams{In: strings.NewReader(""), Out: &out, Errs: &out})
		got := strings.ReplaceAll(strings.Join(strings.Fields(out.String()), " "), "\u00a0", " ")
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%s lacks %q: %.300s", args, w, got)
			}
		}
	}
}
