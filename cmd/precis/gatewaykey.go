package main

import (
	"crypto/rand"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"precis"
	"precis/gateway"
)

func (a *app) gatewayKeyCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "key NAME",
		Short: "Make a key for somebody who may use the gateway",
		Long: `Make a key of the gateway for NAME. The key is printed once and is stored nowhere;
the line below it belongs into the file that gateway.keys_file names, and holds
only a hash. Clients send the key as X-Precis-Key, beside the key of the API.`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			name := args[0]
			if name == "" || strings.ContainsFunc(name, func(r rune) bool { return unicode.IsSpace(r) || r == '#' || !unicode.IsPrint(r) }) {
				return precis.Errorf(precis.CodeInvalid, "make gateway key", "the name %q must be one word without #", name)
			}
			key := "pk-" + strings.ToLower(rand.Text()+rand.Text())
			line := name + " " + gateway.HashKey(key)
			if a.opts.json {
				return a.printJSON(map[string]string{"name": name, "key": key, "line": line})
			}
			a.term.Printf("%s\n", key)
			a.term.Printf("%s\n", line)
			return nil
		},
	}
}
