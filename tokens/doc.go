// Package tokens counts tokens. Start with [New], which returns a
// [precis.Counter] by name: "o200k" and "cl100k" count exactly with OpenAI's
// vocabularies and price what is not text by rule, "roo" is Roo Code's
// estimate, "chars4" a quarter of the characters. [Encoding] is the exact
// tokenizer itself, [Calibration] the ratio between what was counted and what a
// provider reported.
//
// Everything is offline: the vocabularies are embedded. All functions are
// deterministic and safe for concurrent use.
package tokens
