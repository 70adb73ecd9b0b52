// Package wire parses request bodies of model APIs without changing them. [Parse] finds the members
// of a body and the elements of its list of messages; if a body continues an earlier one, only the
// rest is read. [Body.Draft] changes single members and keeps every other byte.
//
// The packages below it implement one dialect each; see precis/wire/anthropic, precis/wire/chat and
// precis/wire/responses.
package wire
