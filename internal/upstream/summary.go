package upstream

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// numbered matches the sections listed in a request for a summary.
var numbered = regexp.MustCompile(`(?m)^ {0,3}(\d{1,2})\. \**([A-Z][^:\n*]{1,60})\**:`)

// summary writes a summary with the sections that a request lists, in the tag it names.
func summary(p *prompt, at place, files []string) string {
	tag := "summary"
	if strings.Contains(p.lastUserText, "<state_snapshot>") {
		tag = "state_snapshot"
	}
	var out strings.Builder
	out.WriteString("<" + tag + ">\n")
	sections := numbered.FindAllStringSubmatch(p.lastUserText, -1)
	if len(sections) == 0 {
		sections = [][]string{{"", "1", "Goal"}, {"", "2", "State"}, {"", "3", "Next step"}}
	}
	for i, m := range sections {
		fmt.Fprintf(&out, "%s. %s:\n   %s\n", m[1], m[2], content(m[2], i == len(sections)-1, at, files))
	}
	out.WriteString("</" + tag + ">")
	return out.String()
}

// content returns the text of a section.
func content(heading string, last bool, at place, files []string) string {
	heading = strings.ToLower(heading)
	switch {
	case last:
		return next(at, files)
	case strings.Contains(heading, "file"):
		var names []string
		for _, f := range files[:min(at.step, len(files))] {
			names = append(names, filepath.Base(f))
		}
		return fmt.Sprintf("%d files were read and none was changed: %s.", at.step, strings.Join(names, ", "))
	case strings.Contains(heading, "error"), strings.Contains(heading, "problem"):
		return "Nothing failed so far; no tool reported an error."
	case strings.Contains(heading, "goal"), strings.Contains(heading, "request"),
		strings.Contains(heading, "conversation"), strings.Contains(heading, "message"):
		return "The user wants the files of the project read one by one, to the last one, and nothing else (" + heading + ")."
	case strings.Contains(heading, "state"), strings.Contains(heading, "current"):
		return fmt.Sprintf("Reading in order; %d of %d files are done.", at.step, len(files))
	}
	return "none"
}

// next describes the next step, for the model and for the server itself.
func next(at place, files []string) string {
	if at.run == "" {
		return fmt.Sprintf("Carry on behind file number %d (no run) of %d.", at.step, len(files))
	}
	return fmt.Sprintf("Carry on behind file number %d (run %s) of %d.", at.step, at.run, len(files))
}
