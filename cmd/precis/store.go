package main

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/command"
	"github.com/precis-dev/precis/cmd/internal/service"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/shelf"
	"github.com/precis-dev/precis/store/transfer"
)

// stored works on the gateway's store.
type stored struct {
	*command.Tools
	store string
}

func newStore(t *command.Tools) *cobra.Command {
	c := &stored{Tools: t}
	cmd := &cobra.Command{
		Use:   "store",
		Short: "Export, import or forget what the gateway has stored",
		Example: `  precis store export backup.jsonl
  precis store purge --older-than 30`,
		Args: command.Takes(),
	}
	cmd.PersistentFlags().StringVar(&c.store, "store", "",
		"`WHERE` conversations are kept: a file or a postgres:// URL")
	cmd.AddCommand(newExport(c), newImport(c), newPurge(c), newForgetSecret(c))
	return cmd
}

// open opens the configured store; there requires that it exists.
func (c *stored) open(ctx context.Context, there bool) (precis.Store, error) {
	c.Jobs.Set("gateway.store", c.store)
	cfg, err := c.Jobs.Config()
	if err != nil {
		return nil, err
	}
	st, err := service.OpenStore(ctx, cfg.Gateway, there)
	if err == nil {
		c.Jobs.OnClose(st.Close)
	}
	return st, err
}

func newForgetSecret(c *stored) *cobra.Command {
	return &cobra.Command{
		Use:     "forget-secret",
		Short:   "Let replicas with another secret use a shared store, when the old secret is lost",
		Example: `  precis store forget-secret --store postgres://…`,
		Args:    command.Takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			st, err := c.open(cmd.Context(), true)
			if err != nil {
				return err
			}
			return service.ForgetSecret(cmd.Context(), st)
		},
	}
}

func newExport(c *stored) *cobra.Command {
	return &cobra.Command{
		Use:     "export [FILE]",
		Short:   "Write everything that is stored as JSON lines, to FILE or standard output",
		Example: `  precis store export backup.jsonl`,
		Args:    command.Takes("[FILE]"),
		RunE:    c.export,
	}
}

func (c *stored) export(cmd *cobra.Command, args []string) error {
	st, err := c.open(cmd.Context(), true)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		_, err = transfer.Export(cmd.Context(), st, c.Data())
		return err
	}
	f, err := os.OpenFile(args[0], os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return &precis.Error{Code: precis.CodeInvalid, Op: "export", Err: err}
	}
	n, err := transfer.Export(cmd.Context(), st, f)
	if cerr := f.Close(); err == nil && cerr != nil {
		err = precis.Errorf(precis.CodeInternal, "export", "%w", cerr)
	}
	if err != nil {
		_ = os.Remove(args[0]) // a partial file is useless
		return err
	}
	return c.printCounts("exported", n)
}

func newImport(c *stored) *cobra.Command {
	return &cobra.Command{
		Use:     "import FILE",
		Short:   "Add what was exported; - reads standard input",
		Example: `  precis store import backup.jsonl`,
		Args:    command.Takes("FILE"),
		RunE:    c.add,
	}
}

func (c *stored) add(cmd *cobra.Command, args []string) error {
	in := c.Input(cmd.Context())
	if args[0] != "-" {
		f, err := openRegular(args[0])
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	st, err := c.open(cmd.Context(), false)
	if err != nil {
		return err
	}
	n, err := transfer.Import(cmd.Context(), in, st)
	if err != nil {
		return err
	}
	return c.printCounts("imported", n)
}

// openRegular opens a file for reading. It refuses named pipes and devices: opening a pipe would
// block, and a device may never end.
func openRegular(path string) (*os.File, error) {
	const op = "import"
	info, err := os.Stat(path)
	if err != nil {
		return nil, &precis.Error{Code: precis.CodeNotFound, Op: op, Err: err}
	}
	if !info.Mode().IsRegular() {
		return nil, &precis.Error{Code: precis.CodeInvalid, Op: op, Place: path,
			Err: errors.New("it is no regular file"), Hint: "standard input, named as -, may be anything"}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, &precis.Error{Code: precis.CodeNotFound, Op: op, Err: err}
	}
	return f, nil
}

// printCounts prints how many conversations, messages and edits were written or read.
func (c *stored) printCounts(done string, n transfer.Counts) error {
	if c.AsJSON {
		return c.JSON(n)
	}
	if !c.Quiet {
		c.Text.Printf("%s %s\n", c.Words.Text(done),
			c.Words.List([]string{c.Words.Count(n.Conversations, "conversation"),
				c.Words.Count(n.Messages, "message"), c.Words.Count(n.Edits, "edit")}))
	}
	return nil
}

// purge deletes conversations.
type purge struct {
	*stored
	days int
	all  bool
}

func newPurge(s *stored) *cobra.Command {
	c := &purge{stored: s}
	cmd := &cobra.Command{
		Use:   "purge [ID…]",
		Short: "Forget conversations for good: by ID, by age, or all of them",
		Example: `  precis store purge --older-than 30
  precis store purge --all`,
		RunE: c.run,
	}
	cmd.Flags().IntVar(&c.days, "older-than", 0, "conversations without a request for so many `DAYS`")
	cmd.Flags().BoolVar(&c.all, "all", false, "everything but the ledger and what was learned about counting")
	return cmd
}

func (c *purge) run(cmd *cobra.Command, args []string) error {
	o := conversation.PurgeOptions{IDs: args, All: c.all}
	if c.days > 0 {
		o.Before = time.Now().AddDate(0, 0, -c.days)
	}
	if len(args) == 0 && c.days <= 0 && !c.all {
		return &precis.Error{Code: precis.CodeInvalid, Op: "purge", Err: errors.New("nothing is named"),
			Hint: "name conversations, or use --older-than DAYS, or --all"}
	}
	st, err := c.open(cmd.Context(), true)
	if err != nil {
		return err
	}
	home := shelf.InStore(shelf.StoreOptions{Store: st, Owner: conversation.AllOwners})
	res, err := conversation.Purge(cmd.Context(), home, o)
	if err != nil {
		return err
	}
	if c.AsJSON {
		return c.JSON(res)
	}
	c.Line("forgot %s with %s", c.Words.Count(res.Conversations, "conversation"),
		c.Words.Count(res.Messages, "message"))
	return nil
}
