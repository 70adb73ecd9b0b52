//go:build !unix

package pgtest

import "testing"

// Cluster is a server that this system cannot run.
type Cluster struct{}

// Start fails: a server is started as another user, which this system has no way for.
func Start() (*Cluster, error) { return nil, ErrMissing }

// Stop has nothing to stop.
func (*Cluster) Stop() error { return nil }

// Database is never called, since no server starts.
func (*Cluster) Database(testing.TB) string { return "" }
