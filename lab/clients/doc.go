// Package clients answers how real agent programs and SDKs from npm work against a scripted model
// server: alone, or through a gateway.
//
// Use [Install] to fetch the packages, [SetUps] for the list of clients, and [Run] for one of them.
// The command in cmd/clients does all of this and prints a table.
//
// A run is client → recording proxy → gateway → upstream, each on a port of 127.0.0.1. The gateway
// is optional and may be any shell command. It gets PORT, the port to listen on, UPSTREAM, the base
// URL of the model server, and WINDOW, the model's window in tokens, in its environment. The client
// gets its own home and project folders, with files that the model server asks it to read. At the
// end of the run, all of its processes are killed and its folders removed.
package clients
