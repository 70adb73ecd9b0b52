// Package wire takes request bodies of model APIs apart without touching them.
// [Parse] finds the members of a body and the elements of its list of messages;
// a body that continues an earlier one is only read from where the two differ.
// [Body.Draft] changes single members and leaves every other byte as it is.
//
// The packages below it know one dialect each; see precis/wire/anthropic,
// precis/wire/chat and precis/wire/responses.
package wire
