package outlineworker

import (
	"errors"
	"hash/maphash"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/precis-dev/precis/outline"
)

// mostMemory is the address space, in bytes, that [Limit] leaves a worker in addition to its program's
// own at start.
const mostMemory = 512 << 20

// Options are the settings of [New].
type Options struct {
	Command []string         // the program that calls [Serve], and its arguments
	Logger  *slog.Logger     // nil: silent
	Now     func() time.Time // nil: time.Now
}

const (
	mostTime  = 300 * time.Millisecond // for a file, and as long to wait for its turn
	startTime = 5 * time.Second        // for the process to send hello
	mostFails = 3                      // in a row, then the process is not used
	restTime  = time.Minute            // duration of such a pause
	mostBad   = 1000                   // number of remembered files that ended it
)

// Worker parses in a process. It starts the process for the first request and after a failure. A
// file that failed once is not retried, and after three failures in a row the process is not used
// for a minute. Make it with [New], end it with [Worker.Close]. It is safe for concurrent use;
// files are parsed one at a time.
type Worker struct {
	o    Options
	time time.Duration // mostTime, except in tests
	seed maphash.Seed
	once sync.Once
	end  chan struct{} // closed by Close
	turn chan *state   // holds the state while it is not in use
}

// state may be used by the holder of the turn.
type state struct {
	process *process // nil: not running
	bad     map[uint64]bool
	fails   int
	rest    time.Time // no request is tried before this time
}

// New returns a worker that has not started its process yet.
func New(o Options) *Worker {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	w := &Worker{o: o, time: mostTime, seed: maphash.MakeSeed(), end: make(chan struct{}),
		turn: make(chan *state, 1)}
	w.turn <- &state{bad: map[uint64]bool{}}
	return w
}

// Close ends the process and waits for its end. The worker then parses no more files.
func (w *Worker) Close() error {
	w.once.Do(func() {
		close(w.end)
		s := <-w.turn // never returned
		s.stop()
	})
	return nil
}

// Parse has the process parse a file. ok is false when it has no grammar for the language, failed,
// or did not answer in time.
func (w *Worker) Parse(language, content string) (defs []outline.Definition, doubts []outline.Doubt, ok bool) {
	timer := time.NewTimer(w.time)
	defer timer.Stop()
	select {
	case <-w.end:
		return nil, nil, false
	case <-timer.C:
		return nil, nil, false
	case s := <-w.turn:
		a := w.ask(s, request{language, content})
		w.turn <- s
		return a.Definitions, a.Doubts, a.OK
	}
}

// ask sends a request. The caller holds the turn.
func (w *Worker) ask(s *state, q request) answer {
	key := maphash.String(w.seed, q.Language+"\x00"+q.Content)
	if s.bad[key] || w.o.Now().Before(s.rest) {
		return answer{}
	}
	if s.process == nil {
		p, err := start(w.o.Command)
		if err != nil {
			w.failed(s, err)
			return answer{}
		}
		s.process = p
	}
	a, err := s.process.ask(q, w.time)
	if err != nil {
		if len(s.bad) >= mostBad {
			clear(s.bad)
		}
		s.bad[key] = true
		w.failed(s, err)
		return answer{}
	}
	if s.fails = 0; a.Last {
		s.stop()
	}
	return a
}

func (w *Worker) failed(s *state, err error) {
	s.stop()
	if s.fails++; s.fails >= mostFails {
		s.fails, s.rest = 0, w.o.Now().Add(restTime)
	}
	w.o.Logger.Warn("outlines: the parser's process failed; the file is read by lines", "error", err, "pause",
		w.o.Now().Before(s.rest))
}

func (s *state) stop() {
	if s.process != nil {
		s.process.stop()
		s.process = nil
	}
}

// process is a running process.
type process struct {
	cmd *exec.Cmd
	in  *os.File
	out *os.File
}

// start starts a process and waits for its hello.
func start(command []string) (*process, error) {
	if len(command) == 0 {
		return nil, errors.New("no command is configured")
	}
	childIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, childOut, err := os.Pipe()
	if err != nil {
		childIn.Close()
		in.Close()
		return nil, err
	}
	p := &process{cmd: exec.Command(command[0], command[1:]...), in: in, out: out}
	p.cmd.Stdin, p.cmd.Stdout = childIn, childOut
	// No keys in the environment, and little address space for threads.
	p.cmd.Env = []string{"MALLOC_ARENA_MAX=1", "GOMAXPROCS=1", "GOTRACEBACK=none"}
	err = p.cmd.Start()
	childIn.Close()
	childOut.Close()
	if err != nil {
		in.Close()
		out.Close()
		return nil, err
	}
	var said string
	err = p.out.SetReadDeadline(time.Now().Add(startTime))
	if err == nil {
		err = readFrame(p.out, len(hello)+2, &said)
	}
	if err == nil && said != hello {
		err = errors.New("it is another program")
	}
	if err != nil {
		p.stop()
		return nil, err
	}
	return p, nil
}

func (p *process) ask(q request, most time.Duration) (answer, error) {
	until := time.Now().Add(most)
	if err := errors.Join(p.in.SetWriteDeadline(until), p.out.SetReadDeadline(until)); err != nil {
		return answer{}, err
	}
	if err := writeFrame(p.in, q); err != nil {
		return answer{}, err
	}
	var a answer
	if err := readFrame(io.LimitReader(p.out, mostAnswer+4), mostAnswer, &a); err != nil {
		return answer{}, err
	}
	return a, a.check()
}

// stop kills the process and waits for it.
func (p *process) stop() {
	p.in.Close()
	p.out.Close()
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait() // the error reports the kill
}

var kinds = []string{
	outline.Function, outline.Method, outline.Class, outline.Struct, outline.Interface, outline.Trait,
	outline.Impl, outline.Enum, outline.Type, outline.Module, outline.Macro,
}

// check returns an error for an answer that no parser would give, because hostile text may have
// taken over the process.
func (a *answer) check() error {
	if len(a.Definitions) > outline.MaxDefinitions+1 || len(a.Doubts) > outline.MaxDefinitions {
		return errors.New("the answer is too long")
	}
	for _, d := range a.Definitions {
		if d.Depth < 0 || d.Depth > outline.MaxDefinitions || !utf8.ValidString(d.Name) ||
			!slices.Contains(kinds, d.Kind) {
			return errors.New("the answer has an impossible definition")
		}
	}
	for _, d := range a.Doubts {
		if d.Def < -1 || d.Def >= len(a.Definitions) {
			return errors.New("the answer has an impossible doubt")
		}
	}
	return nil
}
