// Package recall is the tool by which a model reads again what its view of a
// conversation hides: its definition, [Tool], what a call asks for, and the
// [Library] that answers calls. What it has in common with other tools of the
// gateway is in precis/gateway/tool.
//
// Nothing here reads the network, and of a conversation only what it is handed.
package recall
