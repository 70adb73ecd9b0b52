// Package asked implements the condense tool, with which a model requests a condensation of its own
// conversation. The code shared with other tools of the gateway is in precis/gateway/tool;
// condensing itself is conversation.Condense.
package asked
