package main

import (
	"crypto/rand"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"precis"
	"precis/gateway"
)

// makeKey makes a key of the gateway.
type makeKey struct {
	*tools
	admin bool
}

func newGatewayKey(t *tools) *cobra.Command {
	c := &makeKey{tools: t}
	cmd := &cobra.Command{
		Use:   "key NAME",
		Short: "Make a key for somebody who may use the gateway",
		Long: `Make a key of the gateway for NAME. The key is printed once and is stored nowhere;
the line below it belongs into the file that gateway.keys_file names, and holds
only a hash. Clients send the key as X-Precis-Key, beside the key of the API.
With the word admin at the end of its line, NAME sees everybody's conversations
through the control API and may change the settings.`,
		Example: `  precis gateway key ann >> keys`,
		Args:    takes("NAME"),
		RunE:    c.run,
	}
	cmd.Flags().BoolVar(&c.admin, "admin", false, "NAME may see everybody's conversations and change the settings")
	return cmd
}

func (c *makeKey) run(_ *cobra.Command, args []string) error {
	name := args[0]
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return unicode.IsSpace(r) || r == '#' || !unicode.IsPrint(r) }) {
		return precis.Errorf(precis.CodeInvalid, "make gateway key", "the name %q must be one word without #", name)
	}
	key := "pk-" + strings.ToLower(rand.Text()+rand.Text())
	line := name + " " + gateway.HashKey(key)
	if c.admin {
		line += " admin"
	}
	if c.AsJSON {
		return c.JSON(map[string]string{"name": name, "key": key, "line": line})
	}
	c.Text.Printf("%s\n", key)
	c.Text.Printf("%s\n", line)
	return nil
}
