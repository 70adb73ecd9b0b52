package clients

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"
)

// process is a program running in the background.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed at its end
}

// start starts a program with its output in a file.
func start(ctx context.Context, c command, log string) (*process, error) {
	out, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	cmd := exec.CommandContext(ctx, c.args[0], c.args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = c.dir, c.env, out, out
	cmd.WaitDelay = 5 * time.Second
	alone(cmd)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, done: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // the process state holds the outcome
		close(p.done)
	}()
	return p, nil
}

// stop kills the program and its process group, and waits.
func (p *process) stop() {
	_ = killGroup(p.cmd.Process) // fails if it has ended
	<-p.done
}

// ended reports whether the program has ended by itself. With a hint that it has, ended waits a
// moment.
func (p *process) ended(hint bool) bool {
	if hint {
		select {
		case <-p.done:
		case <-time.After(time.Second):
		}
	}
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// command is a command line with its environment and folder.
type command struct {
	args []string
	env  []string
	dir  string
}

// freePort returns an unused port of 127.0.0.1.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// gateway starts a shell command with PORT in its environment, and waits until the port accepts
// connections. It returns the base URL.
func gateway(ctx context.Context, shell string, env []string, log string) (*process, string, error) {
	port, err := freePort()
	if err != nil {
		return nil, "", err
	}
	p, err := start(ctx, command{args: []string{"sh", "-c", shell},
		env: append(env, fmt.Sprintf("PORT=%d", port))}, log)
	if err != nil {
		return nil, "", err
	}
	address := fmt.Sprintf("127.0.0.1:%d", port)
	deadline := time.After(2 * time.Minute) // the command may build the gateway first
	for {
		if conn, err := net.DialTimeout("tcp", address, time.Second); err == nil {
			conn.Close()
			return p, "http://" + address, nil
		}
		select {
		case <-p.done:
			return nil, "", fmt.Errorf("the gateway ended: %s", lastWords(log))
		case <-deadline:
			p.stop()
			return nil, "", errors.New("the gateway does not listen on its port")
		case <-ctx.Done():
			p.stop()
			return nil, "", ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// tail returns the end of a file on one line, for messages.
func tail(path string, lines int) string {
	text, _ := os.ReadFile(path) // empty on an error
	all := strings.Split(strings.TrimSpace(string(text)), "\n")
	last := strings.TrimSpace(strings.Join(all[max(0, len(all)-lines):], "; "))
	return last[:min(len(last), 300)]
}

// lastWords returns the reason why a program ended, from its output.
func lastWords(log string) string {
	text, _ := os.ReadFile(log) // empty on an error
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return strings.TrimSpace(line)
		}
	}
	return tail(log, 3)
}
