package serving

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/command"
	"github.com/precis-dev/precis/gateway/accounts"
)

// makeKey makes a key for the gateway.
type makeKey struct {
	*command.Tools
	admin bool
	add   string // file to add the line to; "": print the line
}

func newGatewayKey(t *command.Tools) *cobra.Command {
	c := &makeKey{Tools: t}
	cmd := &cobra.Command{
		Use:   "key NAME",
		Short: "Make a key for somebody who may use the gateway",
		Long: `Make a key of the gateway for NAME. The key is printed once and is stored
nowhere; its line belongs into the file that gateway.keys_file names, and holds
only a hash. With --add the line is added to that FILE; without, and where
standard output is no terminal, the line alone goes there and the key to
standard error. Clients send the key as X-Precis-Key, beside the key of the API.
With the word admin at the end of its line, NAME sees everybody's conversations
through the control API and may change the settings.`,
		Example: `  precis gateway key --add keys ann
  precis gateway key ann >> keys`,
		Args: command.Takes("NAME"),
		RunE: c.run,
	}
	cmd.Flags().StringVar(&c.add, "add", "",
		"add the line to this `FILE`, which is made when it is not there")
	cmd.Flags().BoolVar(&c.admin, "admin", false,
		"NAME may see everybody's conversations and change the settings")
	return cmd
}

func (c *makeKey) run(_ *cobra.Command, args []string) error {
	name := args[0]
	if name == "" || strings.ContainsFunc(name,
		func(r rune) bool { return unicode.IsSpace(r) || r == '#' || !unicode.IsPrint(r) }) {
		return precis.Errorf(precis.CodeInvalid, "make gateway key", "the name %q must be one word without #",
			name)
	}
	key := "pk-" + strings.ToLower(rand.Text()+rand.Text())
	line := name + " " + accounts.HashKey(key)
	if c.admin {
		line += " admin"
	}
	if c.add != "" {
		if err := addLine(c.add, line); err != nil {
			return err
		}
	}
	switch {
	case c.AsJSON:
		return c.JSON(map[string]string{"name": name, "key": key, "line": line})
	case c.add != "":
		c.Text.Printf("%s\n", key)
	case c.Text.Terminal():
		c.Text.Printf("%s\n%s\n", key, line)
	default: // the output may be the file of keys, which must contain only hashes
		c.Notes.Printf("%s\n", key)
		c.Text.Printf("%s\n", line)
	}
	return nil
}

// addLine appends a line to a file. A new file is readable only by the user. A last line without an
// end gets one first.
func addLine(path, line string) (err error) {
	defer func() {
		if err != nil {
			err = &precis.Error{Code: precis.CodeInvalid, Op: "add gateway key", Place: path, Err: err}
		}
	}()
	had, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if n := len(had); n > 0 && had[n-1] != '\n' {
		line = "\n" + line
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line + "\n")
	return errors.Join(err, f.Close())
}
