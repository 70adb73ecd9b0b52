// Package recall implements the tool for a model to read again content that its view hides: its
// definition, [Tool], the input of a call, and the [Library] that answers calls. The code shared
// with other tools of the gateway is in precis/gateway/tool.
//
// The package does not access the network, and only reads the transcripts it is given.
package recall
