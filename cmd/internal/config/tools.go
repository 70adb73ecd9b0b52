package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/precis-dev/precis/policy"
)

// toolPolicies writes the policies of single tools as setToolPolicies reads
// them.
func toolPolicies(c *Config) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(c.Settings.Tools)) {
		p := c.Settings.Tools[name]
		if p.Never {
			out = append(out, name+"=never")
		}
		if p.KeepLast > 0 {
			out = append(out, fmt.Sprintf("%s=last:%d", name, p.KeepLast))
		}
		if p.Over > 0 {
			out = append(out, fmt.Sprintf("%s=over:%d", name, p.Over))
		}
	}
	return strings.Join(out, ",")
}

// setToolPolicies reads NAME=never, NAME=last:N and NAME=over:N.
func setToolPolicies(c *Config, s string) error {
	tools := map[string]policy.ToolPolicy{}
	for _, item := range strings.Split(s, ",") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		name, what, ok := strings.Cut(item, "=")
		if !ok || name == "" {
			return fmt.Errorf("%q is not NAME=never, NAME=last:3 or NAME=over:500", item)
		}
		p := tools[name]
		kind, number, _ := strings.Cut(what, ":")
		n := 0
		if kind != "never" {
			var err error
			if n, err = ParseCount(number); err != nil {
				return fmt.Errorf("%s: %w", item, err)
			}
		}
		switch kind {
		case "never":
			p.Never = true
		case "last":
			p.KeepLast = n
		case "over":
			p.Over = n
		default:
			return fmt.Errorf("%q is not NAME=never, NAME=last:3 or NAME=over:500", item)
		}
		tools[name] = p
	}
	c.Settings.Tools = tools
	return nil
}
