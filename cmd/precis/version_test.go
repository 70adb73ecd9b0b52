package main

import (
	"runtime/debug"
	"testing"
)

func TestTheCommitOfABuild(t *testing.T) {
	revision := debug.BuildSetting{Key: "vcs.revision", Value: "0123abc"}
	for _, tt := range []struct {
		settings []debug.BuildSetting
		want     string
	}{
		{nil, ""},
		{[]debug.BuildSetting{revision, {Key: "vcs.modified", Value: "false"}}, "0123abc"},
		{[]debug.BuildSetting{revision, {Key: "vcs.modified", Value: "true"}}, "0123abc+"},
		{[]debug.BuildSetting{{Key: "vcs.modified", Value: "true"}}, ""},
	} {
		if got := commitOf(&debug.BuildInfo{Settings: tt.settings}); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.settings, got, tt.want)
		}
	}
}
