package upstream

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
)

// seal is the key for signing thinking.
type seal string

const nonceSize = 8

// sign returns the signature of thinking after a prefix.
func (s seal) sign(prefix hash, thinking string) string {
	nonce := make([]byte, nonceSize)
	_, _ = rand.Read(nonce) // never fails
	return base64.StdEncoding.EncodeToString(append(nonce, s.mac(nonce, prefix, thinking)...))
}

// signed reports whether a signature is valid for thinking after the prefix.
func (s seal) signed(signature string, prefix hash, thinking string) bool {
	raw, err := base64.StdEncoding.DecodeString(signature)
	if err != nil || len(raw) < nonceSize {
		return false
	}
	return hmac.Equal(raw[nonceSize:], s.mac(raw[:nonceSize], prefix, thinking))
}

func (s seal) mac(nonce []byte, prefix hash, thinking string) []byte {
	m := hmac.New(sha256.New, []byte(s))
	m.Write(nonce)
	m.Write(prefix[:])
	m.Write([]byte(thinking))
	return m.Sum(nil)
}

// bound returns the prefix that thinking after a prompt is bound to; the zero hash for models
// without binding.
func (s *Server) bound(segments []segment) hash {
	if n := len(segments); n > 0 && !s.options.LegacyThinking {
		return segments[n-1].prefix
	}
	return hash{}
}

// bindingBeta is the beta header that lets a request choose the handling of thinking with a changed
// prefix.
const bindingBeta = "thinking-binding-controls-2026-08-01"

// checkThinking checks the thinking in a request to the Messages API. It returns the places of
// blocks that the request allows to drop, or the reason why the request is refused.
func (s *Server) checkThinking(p *prompt, header http.Header) (dropped []string, problem string) {
	thinking, _ := p.body["thinking"].(object)
	controls, set := thinking["block_binding"]
	beta := strings.Contains(strings.Join(header.Values("Anthropic-Beta"), ","), bindingBeta)
	if set && !beta {
		return nil, "thinking.block_binding: Extra inputs are not permitted"
	}
	drop := str(controls, "prefix_mismatch_behavior") == "drop_block"
	end := 0 // number of segments before message i
	for i, m := range list(p.body["messages"]) {
		for end < len(p.segments) && p.segments[end].message < i {
			end++
		}
		message, _ := m.(object)
		for j, b := range list(message["content"]) {
			at := fmt.Sprintf("messages.%d.content.%d", i, j)
			switch str(b, "type") {
			case "redacted_thinking":
				return nil, at + ": Invalid `data` in `redacted_thinking` block"
			case "thinking":
				if s.seal.signed(str(b, "signature"), s.bound(p.segments[:end]), str(b, "thinking")) {
					continue
				}
				if dropped = append(dropped, at); !drop {
					return nil, at + ": " + s.invalidSignature()
				}
			}
		}
	}
	return dropped, ""
}

func (s *Server) invalidSignature() string {
	const invalid = "Invalid `signature` in `thinking` block"
	if s.options.LegacyThinking {
		return invalid
	}
	return invalid + ". The block is bound to a different conversation."
}

// transformations reports the dropped blocks.
func transformations(dropped []string) []object {
	out := []object{}
	for _, path := range dropped {
		out = append(out, object{"type": "thinking_dropped", "path": path,
			"reason": "prefix_binding_mismatch"})
	}
	return out
}
