// Package asked is the tool by which a model asks for a condensation of its own
// conversation at a moment that suits its work: the definition, [Tool], what a call
// asks for, and what the model is answered. What it has in
// common with other tools of the gateway is in precis/gateway/tool; condensing itself is
// conversation.Condense.
package asked
