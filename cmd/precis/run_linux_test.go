package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// openPTY returns the two ends of a terminal.
func openPTY(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("there are no terminals here: ", err)
	}
	t.Cleanup(func() { master.Close() })
	var n, locked int32
	for request, at := range map[uintptr]*int32{syscall.TIOCGPTN: &n, syscall.TIOCSPTLCK: &locked} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, master.Fd(), request, uintptr(unsafe.Pointer(at))); errno != 0 {
			t.Fatal(errno)
		}
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { slave.Close() })
	return master, slave
}

func waitFor(t *testing.T, path string) string {
	t.Helper()
	for range 1000 {
		if data, err := os.ReadFile(path); err == nil {
			return string(data)
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("there is no %s", filepath.Base(path))
	return ""
}

// A key that sends a signal reaches the client, and the gateway lives on
// until the client has ended.
func TestKeysReachTheClient(t *testing.T) {
	if testing.Short() {
		t.Skip("short: it starts processes")
	}
	master, slave := openPTY(t)
	go func() { // discards the echo
		buf := make([]byte, 1024)
		for {
			if _, err := master.Read(buf); err != nil {
				return
			}
		}
	}()
	file := filepath.Join(t.TempDir(), "pids")
	cmd := exec.Command("precis", "run", "--store", "memory", "--", "client", "wait", file)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, file)
	const times = 8 // signals that come at once are one
	for n := range times {
		if _, err := master.Write([]byte{3}); err != nil { // Ctrl-C
			t.Fatal(err)
		}
		for strings.Count(waitFor(t, file+".got"), "interrupt") <= n {
			time.Sleep(time.Millisecond)
		}
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // its exit code is looked at
	if got := cmd.ProcessState.ExitCode(); got != 9 {
		t.Errorf("exit code %d, want the client's 9", got)
	}
	if got := waitFor(t, file+".got"); got != strings.Repeat("interrupt ", times)+"terminated" {
		t.Errorf("the client got %q", got)
	}
}
