package models

import "strings"

// families maps the letters that open a word of a model's name to its family.
// The first word that is in the table decides.
var families = map[string]string{
	"claude": "claude",
	"gpt":    "gpt", "chatgpt": "gpt", "codex": "gpt",
	"gemini": "gemini", "gemma": "gemma",
	"grok":     "grok",
	"glm":      "glm",
	"deepseek": "deepseek",
	"kimi":     "kimi", "moonshot": "kimi",
	"minimax": "minimax",
	"qwen":    "qwen", "qwq": "qwen",
	"llama":   "llama",
	"mistral": "mistral", "mixtral": "mistral", "ministral": "mistral", "magistral": "mistral",
	"codestral": "mistral", "devstral": "mistral", "pixtral": "mistral",
	"nova": "nova", "phi": "phi", "command": "command", "ernie": "ernie",
	"hermes": "hermes", "nemotron": "nemotron", "granite": "granite",
}

// makers maps a family to the provider ID of the company that trains it, where
// the catalog has that company.
var makers = map[string]string{
	"claude":   "anthropic",
	"gpt":      "openai",
	"gemini":   "gemini",
	"grok":     "xai",
	"glm":      "zai",
	"deepseek": "deepseek",
	"kimi":     "moonshot",
	"minimax":  "minimax",
	"qwen":     "alibaba-singapore",
}

// Family returns the family of a lower-case model ID, empty when unknown.
func Family(id string) string {
	rest := id[strings.LastIndexByte(id, '/')+1:]
	for rest != "" {
		word, tail, _ := cutWord(rest)
		if f := families[leadingLetters(word)]; f != "" {
			if f == "gpt" && strings.HasPrefix(tail, "oss") {
				return "gpt-oss"
			}
			return f
		}
		if reasoningSeries(word) {
			return "gpt"
		}
		rest = tail
	}
	return ""
}

func cutWord(s string) (word, tail string, found bool) {
	if i := strings.IndexAny(s, "-._:"); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}

func leadingLetters(word string) string {
	for i := range len(word) {
		if word[i] < 'a' || word[i] > 'z' {
			return word[:i]
		}
	}
	return word
}

// reasoningSeries recognizes OpenAI's o1, o3 and o4.
func reasoningSeries(word string) bool {
	return word == "o1" || word == "o3" || word == "o4"
}
