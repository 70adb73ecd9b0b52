package main

import (
	"context"
	"os"
	"time"

	"github.com/spf13/cobra"

	"precis"
	"precis/cmd/internal/service"
	"precis/cmd/internal/term"
	"precis/store/transfer"
)

func (a *app) storeCmd() *cobra.Command {
	var store string
	cmd := &cobra.Command{
		Use:   "store",
		Short: "Export, import or forget what the gateway has stored",
		Args:  cobra.NoArgs,
	}
	cmd.PersistentFlags().StringVar(&store, "store", "", "`WHERE` conversations are kept: a file or a postgres:// URL")
	open := func(cmd *cobra.Command, there bool) (precis.Store, error) {
		if store != "" {
			a.opts.set = append(a.opts.set, "gateway.store="+store)
		}
		cfg, err := a.opts.load()
		if err != nil {
			return nil, err
		}
		st, err := service.OpenStore(cmd.Context(), cfg.Gateway, there)
		if err == nil {
			a.closing = append(a.closing, st.Close)
		}
		return st, err
	}
	cmd.AddCommand(a.exportCmd(open), a.importCmd(open), a.purgeCmd(open))
	return cmd
}

// storeOpener opens the configured store; there says that it must be there.
type storeOpener = func(cmd *cobra.Command, there bool) (precis.Store, error)

func (a *app) exportCmd(open storeOpener) *cobra.Command {
	return &cobra.Command{
		Use:   "export [FILE]",
		Short: "Write everything that is stored as JSON lines, to FILE or standard output",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			st, err := open(cmd, true)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				_, err = transfer.Export(cmd.Context(), st, a.out)
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
				_ = os.Remove(args[0]) // half of it helps nobody
				return err
			}
			return a.moved("exported", n)
		},
	}
}

func (a *app) importCmd(open storeOpener) *cobra.Command {
	return &cobra.Command{
		Use:   "import FILE",
		Short: "Add what was exported; - reads standard input",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			in := a.in
			if args[0] != "-" {
				f, err := os.Open(args[0])
				if err != nil {
					return &precis.Error{Code: precis.CodeNotFound, Op: "import", Err: err}
				}
				defer f.Close()
				in = f
			}
			st, err := open(cmd, false)
			if err != nil {
				return err
			}
			n, err := transfer.Import(cmd.Context(), in, st)
			if err != nil {
				return err
			}
			return a.moved("imported", n)
		},
	}
}

// moved tells how much was written or read.
func (a *app) moved(done string, n transfer.Counts) error {
	if a.opts.json {
		return a.printJSON(n)
	}
	if !a.opts.quiet {
		a.term.Printf("%s %s, %s, %s\n", done, term.Count(n.Conversations, "conversation"), term.Count(n.Messages, "message"), term.Count(n.Edits, "edit"))
	}
	return nil
}

func (a *app) purgeCmd(open storeOpener) *cobra.Command {
	var days int
	var all bool
	cmd := &cobra.Command{
		Use:   "purge [ID…]",
		Short: "Forget conversations for good: by ID, by age, or all of them",
		RunE: func(cmd *cobra.Command, args []string) error {
			q := precis.PurgeQuery{IDs: args, All: all}
			if days > 0 {
				q.Before = time.Now().AddDate(0, 0, -days)
			}
			if len(args) == 0 && days <= 0 && !all {
				return &precis.Error{Code: precis.CodeInvalid, Op: "purge", Err: errNothingNamed, Hint: "name conversations, or use --older-than DAYS, or --all"}
			}
			st, err := open(cmd, true)
			if err != nil {
				return err
			}
			res, err := purge(cmd.Context(), st, q)
			if err != nil {
				return err
			}
			if a.opts.json {
				return a.printJSON(res)
			}
			a.term.Printf("forgot %s with %s\n", term.Count(res.Conversations, "conversation"), term.Count(res.Messages, "message"))
			return nil
		},
	}
	cmd.Flags().IntVar(&days, "older-than", 0, "conversations without a request for so many `DAYS`")
	cmd.Flags().BoolVar(&all, "all", false, "everything but the ledger and what was learned about counting")
	return cmd
}

var errNothingNamed = precis.Errorf(precis.CodeInvalid, "", "nothing is named")

// purge forgets in every scope of a store.
func purge(ctx context.Context, st precis.Store, q precis.PurgeQuery) (total precis.PurgeResult, err error) {
	owners := []string{""}
	scoper, ok := st.(precis.Scoper)
	if ok {
		if owners, err = scoper.Scopes(ctx); err != nil {
			return total, err
		}
	}
	for _, owner := range owners {
		scope := st
		if ok {
			scope = scoper.Scope(owner)
		}
		p, can := scope.(precis.Purger)
		if !can {
			return total, precis.Errorf(precis.CodeInvalid, "purge", "this store cannot forget")
		}
		res, err := p.Purge(ctx, q)
		if err != nil {
			return total, err
		}
		total.Conversations += res.Conversations
		total.Messages += res.Messages
		total.Bytes += res.Bytes
	}
	return total, nil
}
