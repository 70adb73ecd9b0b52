package memory

import (
	"bytes"
	"math"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"
)

// machine returns the memory of the machine in bytes, or the limit of its control group if that
// is lower; 0 if unknown.
func machine() uint64 {
	least := uint64(math.MaxUint64)
	var info syscall.Sysinfo_t
	if syscall.Sysinfo(&info) == nil {
		least = uint64(info.Totalram) * uint64(info.Unit)
	}
	if groups, err := os.ReadFile("/proc/self/cgroup"); err == nil {
		for _, file := range limitFiles(string(groups)) {
			if n, ok := limitIn(file); ok {
				least = min(least, n)
			}
		}
	}
	if least == math.MaxUint64 {
		return 0
	}
	return least
}

// limitFiles returns the files with possible memory limits, given the content of
// /proc/self/cgroup: for each control group and its ancestors, for both versions of the file
// system. In a container the paths may refer to the host; the root is always included.
func limitFiles(groups string) (files []string) {
	for line := range strings.Lines(groups) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, group, ok := strings.Cut(rest, ":")
		root, file := "/sys/fs/cgroup", "memory.max"
		switch {
		case !ok || controllers != "" && controllers != "memory":
			continue
		case controllers == "memory":
			root, file = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
		}
		for group = path.Clean("/" + group); ; group = path.Dir(group) {
			files = append(files, path.Join(root, group, file))
			if group == "/" {
				break
			}
		}
	}
	return files
}

// limitIn reads a limit; ok is false if the file sets no limit.
func limitIn(file string) (n uint64, ok bool) {
	data, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	n, err = strconv.ParseUint(string(bytes.TrimSpace(data)), 10, 64) // "max": no limit
	return n, err == nil && n > 0
}
