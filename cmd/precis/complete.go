package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive/formats"
	"github.com/precis-dev/precis/cmd/internal/agents"
	"github.com/precis-dev/precis/cmd/internal/config"
	"github.com/precis-dev/precis/cmd/internal/term"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/export"
	"github.com/precis-dev/precis/host"
	"github.com/precis-dev/precis/host/hook"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/sessions"
	"github.com/precis-dev/precis/tokens"
)

// completer completes words other than file names.
type completer func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective)

// complete registers the completion of flag values, session names, handles and edits. It is needed
// only when the shell asks for completions.
func (t *commandLine) complete(root *cobra.Command) {
	flags := map[string]completer{
		"preset": oneOf(preset.Names()...), "estimate": oneOf(tokens.Names()...), "set": settings,
		"model":   t.models,
		"dialect": oneOf("anthropic", "chat", "responses"), "summarizer": oneOf("model", "digest"),
		"log-format": oneOf("text", "json"),
		"sort":       oneOf(sessions.Sorts()...), "agent": oneOf(formatNames()...),
		"state": oneOf("answered", "interrupted", "completed", "unreadable"),
	}
	words := map[string]completer{"show": t.handles, "restore": t.handles, "pin": t.handles, "undo": t.edits,
		"models":  t.models,
		"install": oneOf(hostNames()...), "uninstall": oneOf(hostNames()...),
		"statusline": oneOf(agents.StatuslineHosts...), "stats": oneOf("hosts"), "hook": hookWords}
	for name, f := range flags {
		for _, cmd := range all(root) {
			if cmd.PersistentFlags().Lookup(name) != nil || cmd.Flags().Lookup(name) != nil {
				if err := cmd.RegisterFlagCompletionFunc(name, f); err != nil {
					panic(err) // the flag exists
				}
			}
		}
	}
	byCommand := map[string]completer{"export": oneOf(export.Formats()...),
		"status": oneOf(agents.StatusFormats...)}
	for _, cmd := range all(root) {
		if f := byCommand[cmd.Name()]; f != nil && cmd.Flags().Lookup("format") != nil {
			if err := cmd.RegisterFlagCompletionFunc("format", f); err != nil {
				panic(err) // the flag exists
			}
		}
		f, ok := words[cmd.Name()]
		switch {
		case cmd.Parent() != nil && cmd.Parent().Name() == "config":
			cmd.ValidArgsFunction = oneOf(config.Keys()...)
		case ok && cmd.Parent() == root:
			cmd.ValidArgsFunction = f
		case strings.Contains(cmd.Use, "FILE"), strings.Contains(cmd.Use, "SESSION"):
			cmd.ValidArgsFunction = completeRecording
		}
	}
}

// all returns a command and all commands below it.
func all(cmd *cobra.Command) []*cobra.Command {
	out := []*cobra.Command{cmd}
	for _, c := range cmd.Commands() {
		out = append(out, all(c)...)
	}
	return out
}

// formatNames returns the names of the supported recording formats.
func formatNames() []string {
	var out []string
	for _, f := range formats.All() {
		out = append(out, f.Name())
	}
	return out
}

// hostNames returns the programs that precis can be installed in.
func hostNames() []string {
	var out []string
	for _, h := range host.Hosts() {
		out = append(out, h.Name)
	}
	return out
}

// hookWords completes a program and then its events.
func hookWords(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return hook.Hosts(), cobra.ShellCompDirectiveNoFileComp
	case 1:
		return hook.Events(args[0]), cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

func oneOf(words ...string) completer {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeRecording completes session names that begin with @; the shell completes files.
func completeRecording(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	if !strings.HasPrefix(word, "@") {
		return nil, cobra.ShellCompDirectiveDefault
	}
	out := []string{"@last\tthe session used last"}
	for _, a := range formatNames() {
		out = append(out, "@"+a+"\tthe newest of "+a)
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// settings completes KEY=VALUE.
func settings(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	values := map[string][]string{"preset": preset.Names(), "rungs": preset.Rungs(),
		"estimate": tokens.Names()}
	key, _, ok := strings.Cut(word, "=")
	var out []string
	if !ok {
		for _, k := range config.Keys() {
			out = append(out, k+"=")
		}
		return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	for _, v := range values[key] {
		out = append(out, key+"="+v)
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// models completes names of models.
func (t *commandLine) models(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	cfg, err := t.Jobs.Config()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	catalog, err := cfg.Catalog()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var out []string
	for _, m := range catalog.List() {
		if strings.HasPrefix(m.ID, word) {
			out = append(out, m.ID)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), cobra.ShellCompDirectiveNoFileComp
}

// mostHandles is the most messages offered.
const mostHandles = 200

// handles completes handles of messages in the named recording, with the beginning of each message.
func (t *commandLine) handles(cmd *cobra.Command, args []string,
	word string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return completeRecording(cmd, args, word)
	}
	f, err := t.Jobs.Read(cmd.Context(), args[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var out []string
	for i, m := range f.Conversation.Transcript.Messages() {
		h := precis.MessageHandle(i).String()
		if strings.HasPrefix(h, word) && len(out) < mostHandles {
			out = append(out, h+"\t"+string(m.Role)+": "+
				term.Cut(strings.Join(strings.Fields(term.Plain(m.PlainText())), " "), 50))
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// edits completes the short names of edits in force.
func (t *commandLine) edits(cmd *cobra.Command, args []string,
	word string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return completeRecording(cmd, args, word)
	}
	f, err := t.Jobs.Read(cmd.Context(), args[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var out []string
	for _, e := range conversation.EditsOf(f.Conversation).Items {
		if e.InForce && e.Kind != precis.KindUndo && strings.HasPrefix(e.Name, word) {
			out = append(out, e.Name+"\t"+string(e.Kind)+": "+e.Report.Reason)
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}
