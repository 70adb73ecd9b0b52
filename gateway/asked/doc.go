// Package asked implements the tool for a model to request a condensation of its own conversation
// at a suitable moment: the definition, [Tool], the input of a call, and its answer. The code
// shared with other tools of the gateway is in precis/gateway/tool; condensing itself is
// conversation.Condense.
package asked
