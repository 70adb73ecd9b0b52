// Command precis keeps recorded agent conversations inside a model's context
// window, and takes it back on request. Run precis --help.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/precis-dev/precis/cmd/internal/console"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	code := run(ctx, os.Args[1:], console.Standard(os.Getenv))
	stop()
	os.Exit(code)
}
