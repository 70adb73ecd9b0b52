// Package telemetry reports what a gateway does: [Metrics] for
// Prometheus, [Traces] for OpenTelemetry, and [Webhook] for posts about what an
// operator should know. Each has methods that fit gateway.Options.OnTurn and the
// OnReport, OnEdit and Alert of precis.Options; all of them return at once.
//
// None of it ever holds what was said, and none holds keys. Names that clients
// choose, such as those of models, are shortened and limited in number.
package telemetry
