// Package tokens counts tokens. Start with [New], which returns a
// [precis.Counter] by name: "o200k" and "cl100k" count text exactly with OpenAI's
// vocabularies, "roo" is Roo Code's estimate, "chars4" a quarter of the
// characters. Pictures, sound, files and encrypted content are counted by what
// they are, see docs/counting.md. [Encoding] is the exact tokenizer itself,
// [Calibration] the ratio between what was counted and what a provider reported.
//
// Everything is offline: the vocabularies are embedded. All functions are
// deterministic and safe for concurrent use.
package tokens
