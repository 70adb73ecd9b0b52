package main

import "github.com/spf13/cobra"

// topic is a subject that help explains besides commands.
type topic struct{ name, short, text string }

var topics = []topic{
	{"commands", "The commands that are not listed above", `For programs, and for work that is rare:

  precis view         print the messages to send now
  precis gate         check a summary and add what it lacks
  precis serve        serve agents that call their model themselves
  precis experiments  compare how condensations turned out
  precis stats hosts  say what precis did in agent programs
  precis models       list models with their windows, limits and prices
  precis windows      show what the running gateway takes windows to be
  precis store        export, import or forget what the gateway has stored
  precis repair       save what is whole of a damaged file of precis
  precis version      print the version
  precis completion   print the completion script for your shell
  precis man          write the manual pages

Agent programs call these; precis install sets them up:

  precis hook         answer an event of an agent program
  precis statusline   serve the status line of an agent program`},
	{"handles", "How messages and blocks are named",
		`A handle names what was said. It never changes, because the transcript only grows.

  m12        message 12, counted from 0
  m12-m40    messages 12 to 40, both included
  m12.b3     block 3 of message 12: a text, a tool use, a tool result

Handles stand in digests, in markers of what is hidden, in previews and in the
results of a search. They are read by show, restore and pin:

  precis search run.precis connection refused   # finds m42.b0
  precis show run.precis m42.b0                 # prints it
  precis restore run.precis m42.b0              # shows it to the model again
  precis pin run.precis m0                      # keeps it in every view

Edits have short names as well: e1 is the oldest. precis inspect lists those in
force, and precis undo takes them back.

  precis undo run.precis e2`},
	{"presets", "Policies: when a view is reduced, and by what",
		`A preset is a policy to start from. Every number of it can be set by itself.

  balanced    the default: pointers, previews, digests; a model's summary when
              summarizer.model names a model
  frugal      the same, and never a model
  selective   shortens single tool results before whole turns
  roo         what Roo Code does: a model's summary, else truncation
  off         only observes: reports what would be done

  precis condense --preset frugal run.jsonl
  precis config --preset roo              # its numbers
  precis condense --set threshold=60 --set target=30 run.jsonl

The steps of a reduction are called rungs, from the one that loses least to the
one that loses most: --set rungs=dedupe,prune,digest climbs these alone.`},
	{"configuration", "Where values come from, and which one counts",
		`Values come from, the later over the earlier:

  1  a preset (precis help presets)
  2  your file: precis/config.yaml in the configuration folder of your system
  3  precis.yaml in the current folder, which may set policies only
  4  the environment: PRECIS_THRESHOLD=60, PRECIS_KEEP_MESSAGES=10
  5  flags: --preset, --window, --set KEY=VALUE

--config FILE, or PRECIS_CONFIG, is read in the place of 2 and 3.

  precis config                    # every value, its origin and its meaning
  precis config --recipes          # examples to copy
  precis config set threshold 60   # writes it into your file
  precis config --set threshold=60`},
}

func topicNames() []string {
	names := make([]string, len(topics))
	for i, t := range topics {
		names[i] = t.name
	}
	return names
}

// newTopic makes the command that cobra lists as a help topic.
func newTopic(t topic) *cobra.Command {
	return &cobra.Command{Use: t.name, Short: t.short, Long: t.text}
}
