package bridge_test

import (
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway/bridge"
)

// A window is known by the lines that the one behind it says of it, and not by those of itself or of another thread.
func TestNextWindow(t *testing.T) {
	system := func(lines string) precis.Message {
		return precis.NewText(precis.RoleSystem, "You read files.\n<context_window>\nAgent name: /root\n"+lines+"</context_window>\nBe brief.\n")
	}
	const (
		first = "First context window id: 01a22c39-533c-7c92-9ea5-8516534158da\n"
		b     = "01a22c39-5dca-7e63-8ee3-dbd7a9521213\n"
		c     = "01a22c39-644b-7e02-ad9a-8456aa11dda9\n"
	)
	this := system(first + "Current context window id: " + b + "Previous context window id: 01a22c39-533c-7c92-9ea5-8516534158da\n")
	table := bridge.NewTable(nil)
	table.Keep(bridge.Answer{Owner: "ann", Conversation: "c1", Text: bridge.NextWindow(this)})
	for name, tt := range map[string]struct {
		system precis.Message
		found  bool
	}{
		"the next":           {system(first + "Current context window id: " + c + "Previous context window id: " + b), true},
		"itself":             {this, false},
		"of another thread":  {system("First context window id: " + c + "Current context window id: " + c), false},
		"behind another one": {system(first + "Current context window id: " + b + "Previous context window id: " + c), false},
		"none":               {precis.NewText(precis.RoleSystem, "You read files."), false},
	} {
		if _, ok := table.Find("ann", []precis.Message{tt.system}); ok != tt.found {
			t.Errorf("%s: %v", name, ok)
		}
	}
	if next := bridge.NextWindow(precis.NewText(precis.RoleSystem, "Current context window id: "+b)); next != "" {
		t.Errorf("outside of the element it is %q", next)
	}
	for name, tt := range map[string]struct {
		msgs []precis.Message
		want bool
	}{
		"text":      {[]precis.Message{user("Go on.")}, true},
		"none":      {nil, false},
		"empty":     {[]precis.Message{{Role: precis.RoleUser}}, false},
		"an answer": {[]precis.Message{precis.NewText(precis.RoleAssistant, "Yes.")}, false},
		"a picture": {[]precis.Message{{Role: precis.RoleUser, Content: []precis.Block{precis.Image{Data: "AA"}}}}, false},
	} {
		if got := bridge.BeginsWithText(tt.msgs); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
