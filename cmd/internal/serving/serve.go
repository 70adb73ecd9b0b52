package serving

import (
	"github.com/spf13/cobra"

	"github.com/precis-dev/precis/cmd/internal/command"
)

// NewServe makes the command serve.
func NewServe(t *command.Tools) *cobra.Command {
	c := &serve{Tools: t, local: true}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve views and summaries to agents that call their model themselves",
		Long: `Serve the engine of precis over HTTP to agents that send their requests
themselves: a request goes in, in the dialect of its API, and the view to send
in its place comes out. Nothing is forwarded, and no key of a model is needed.

  POST /precis/api/v1/assemble   a request in, its view out
  POST /precis/api/v1/compact    a summary now
  POST /precis/api/v1/gate       what a summary lacks
  POST /precis/api/v1/digest     a digest of a given size
  POST /precis/api/v1/expand     the original of a handle

With "conversation" in a request the conversation is kept in the store; without,
nothing is. The rest of the API, the pages at /precis/ and the MCP server are
there as well, and precis gateway serves the same paths. The folder integrations
of the source has adapters. gateway.* of the configuration holds here, too, keys
included.`,
		Example: `  precis serve
  precis serve --listen 127.0.0.1:9000 --store memory`,
		Args: command.Takes(),
		RunE: c.run,
	}
	cmd.Flags().StringVar(&c.listen, "listen", "", "`ADDRESS` to listen on (default 127.0.0.1:8377)")
	cmd.Flags().StringVar(&c.store, "store", "",
		"`WHERE` conversations are kept: a file, a postgres:// URL, or memory")
	cmd.Flags().StringVar(&c.format, "log-format", "",
		"log requests and checks to standard error in a `FORMAT`, text or json (default only what goes wrong, as text)")
	return cmd
}
