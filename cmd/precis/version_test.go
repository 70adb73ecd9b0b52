package main

import (
	"runtime/debug"
	"testing"
)

func TestTheCommitOfABuild(t *testing.T) {
	revision := debug.BuildSetting{Key: "vcs.revision", Value: "0123abc"}
	at := debug.BuildSetting{Key: "vcs.time", Value: "2026-11-30T12:00:00Z"}
	for _, tt := range []struct {
		settings []debug.BuildSetting
		want     string
	}{
		{nil, ""},
		{[]debug.BuildSetting{revision, at, {Key: "vcs.modified", Value: "false"}}, "0123abc"},
		{[]debug.BuildSetting{revision, at, {Key: "vcs.modified", Value: "true"}}, "0123abc+"},
		{[]debug.BuildSetting{{Key: "vcs.modified", Value: "true"}}, ""},
	} {
		if got, date := commitOf(&debug.BuildInfo{Settings: tt.settings}); got != tt.want || got != "" && date != at.Value {
			t.Errorf("%v: %q of %q, want %q", tt.settings, got, date, tt.want)
		}
	}
}
