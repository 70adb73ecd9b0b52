// Package telemetry reports the gateway's activity to operators: [Metrics] for Prometheus, [Traces]
// for OpenTelemetry, and [Webhook] for posts about notable events. Each has methods that fit
// gateway.Options.OnTurn and the OnReport, OnEdit and Alert of policy.Options; all of them return
// at once.
//
// None of them contains message content or keys. Names that clients choose, such as model names,
// are shortened and limited in number.
package telemetry
