package memory

import (
	"slices"
	"testing"
)

func TestLimitFiles(t *testing.T) {
	got := limitFiles("12:cpu,cpuacct:/a\n7:memory:/docker/b\n0::/user.slice/run\nodd\n")
	want := []string{
		"/sys/fs/cgroup/memory/docker/b/memory.limit_in_bytes", "/sys/fs/cgroup/memory/docker/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.limit_in_bytes",
		"/sys/fs/cgroup/user.slice/run/memory.max", "/sys/fs/cgroup/user.slice/memory.max", "/sys/fs/cgroup/memory.max",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestLimitIn(t *testing.T) {
	for _, tt := range []struct {
		text string
		n    uint64
		ok   bool
	}{{"1073741824\n", 1 << 30, true}, {"max\n", 0, false}, {"", 0, false}} {
		n, ok := limitIn(write(t, tt.text+" ", len(tt.text)))
		if ok != tt.ok || ok && n != tt.n {
			t.Errorf("%q: %d %v", tt.text, n, ok)
		}
	}
	if _, ok := limitIn("/nowhere"); ok {
		t.Error("a file that is missing has a limit")
	}
}
