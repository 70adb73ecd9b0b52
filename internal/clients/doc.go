// Package clients runs real agent programs and SDKs from npm against a scripted
// model server, and measures how they fare: alone, or through a gateway.
//
// Use [Install] to fetch the packages, [SetUps] for what can be run, and [Run]
// for one set-up. The command in cmd/clients does all of it and prints a table.
//
// A run is client → recording proxy → gateway → upstream, each on a port of
// 127.0.0.1. The gateway is any shell command, or left out: PORT in its
// environment is where it listens on 127.0.0.1, UPSTREAM the base URL of the
// model server, WINDOW the model's window in tokens. The client gets a home and
// a project directory of its own, with files that the model server asks it to
// read. When the run ends all of its processes are killed and its directories
// removed.
//
//precis:testonly
package clients
