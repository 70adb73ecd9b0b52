package postgres

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/precis-dev/precis"
)

// parse parses the URL. Its errors quote no part of it, because in a malformed URL the password may
// be anywhere.
func parse(url string, o Options) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil || !unambiguous(url) {
		return nil, &precis.Error{
			Code: precis.CodeInvalid, Op: opOpen,
			Err:  errors.New("the URL of the database cannot be understood"),
			Hint: "write postgres://user:password@host:5432/database, with special characters of the password as %40 and the like",
		}
	}
	config.MaxConns = int32(o.MaxConns)
	config.MinConns, config.MinIdleConns = 0, 0
	config.ConnConfig.ConnectTimeout = o.ConnectTimeout
	params := config.ConnConfig.RuntimeParams
	params["search_path"] = pgx.Identifier{o.Schema}.Sanitize()
	if params["application_name"] == "" {
		params["application_name"] = "precis"
	}
	return config, nil
}

// unambiguous reports whether a URL has at most one @, before its path and query. Otherwise part of
// a password may have been parsed as a host or database name.
func unambiguous(url string) bool {
	_, rest, ok := strings.Cut(url, "://")
	if !ok || !strings.HasPrefix(url, "postgres://") && !strings.HasPrefix(url, "postgresql://") {
		return false
	}
	before, after, _ := strings.Cut(rest, "@")
	return !strings.Contains(after, "@") && (len(before) == len(rest) || !strings.ContainsAny(before, "/?#"))
}

// placeOf returns the name of the database for errors.
func placeOf(config *pgxpool.Config, schema string) string {
	c := config.ConnConfig
	server := net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port)))
	return fmt.Sprintf("%s/%s, schema %s", server, c.Database, schema)
}
