package host

import (
	"testing"
)

// Commands of every shell, and of versions without a guard, are recognized as precis's; others are
// not.
func TestOursIsKnown(t *testing.T) {
	for _, path := range []string{"/usr/local/bin/precis", `/opt/it's a "place"/precis`, "precis", `C:\Program Files\precis\precis.exe`, "/opt/precis-1.2", "/tmp/a || b/precis"} {
		m := Machine{Binary: path, State: "/home/x/.local/state/precis/hooks"}
		for name, command := range map[string]string{
			"sh": posix.guard(path, "hook codex session-start"), "cmd": cmdExe.guard(path, "hook codex session-start"), "powershell": powershell.guard(path, "hook codex session-start"),
			"waiting": m.whenWaiting("hook codex pending"), "before": m.quoted() + " hook codex session-start",
		} {
			if !isOurHook(command, "codex") || isOurHook(command, "qwen") {
				t.Errorf("%s: %s", name, command)
			}
		}
	}
	for _, command := range []string{"[ -x /bin/mine ] || exit 0; exec /bin/mine hook codex session-start", "echo precis hook codex", "/opt/other hook codex x", ""} {
		if isOurHook(command, "codex") {
			t.Errorf("somebody else's: %s", command)
		}
	}
	if got, want := cmdExe.guard(`C:\a b\precis.exe`, "hook codex session-start"), `if exist "C:\a b\precis.exe" call "C:\a b\precis.exe" hook codex session-start`; got != want {
		t.Error(got)
	}
	if got, want := powershell.guard(`C:\it's\precis.exe`, "hook qwen post-compact"), `if (Test-Path 'C:\it''s\precis.exe') { & 'C:\it''s\precis.exe' hook qwen post-compact }; exit 0`; got != want {
		t.Error(got)
	}
}
