//go:build cgo && treesitter

package treesitter

import (
	"strings"
	"unsafe"

	kotlin "github.com/tree-sitter-grammars/tree-sitter-kotlin/bindings/go"
	lua "github.com/tree-sitter-grammars/tree-sitter-lua/bindings/go"
	bash "github.com/tree-sitter/tree-sitter-bash/bindings/go"
	csharp "github.com/tree-sitter/tree-sitter-c-sharp/bindings/go"
	c "github.com/tree-sitter/tree-sitter-c/bindings/go"
	cpp "github.com/tree-sitter/tree-sitter-cpp/bindings/go"
	golang "github.com/tree-sitter/tree-sitter-go/bindings/go"
	java "github.com/tree-sitter/tree-sitter-java/bindings/go"
	javascript "github.com/tree-sitter/tree-sitter-javascript/bindings/go"
	php "github.com/tree-sitter/tree-sitter-php/bindings/go"
	python "github.com/tree-sitter/tree-sitter-python/bindings/go"
	ruby "github.com/tree-sitter/tree-sitter-ruby/bindings/go"
	rust "github.com/tree-sitter/tree-sitter-rust/bindings/go"
	scala "github.com/tree-sitter/tree-sitter-scala/bindings/go"
	typescript "github.com/tree-sitter/tree-sitter-typescript/bindings/go"
)

// grammars maps a language to its compiled grammar.
var grammars = map[string]func() unsafe.Pointer{
	"go":         golang.Language,
	"python":     python.Language,
	"typescript": typescript.LanguageTypescript,
	"tsx":        typescript.LanguageTSX,
	"javascript": javascript.Language,
	"rust":       rust.Language,
	"java":       java.Language,
	"c":          c.Language,
	"cpp":        cpp.Language,
	"csharp":     csharp.Language,
	"ruby":       ruby.Language,
	"php":        php.LanguagePHP,
	"bash":       bash.Language,
	"kotlin":     kotlin.Language,
	"scala":      scala.Language,
	"lua":        lua.Language,
}

// grammarOf returns the grammar that fits the content, nil without one. The usual PHP grammar takes
// an excerpt without "<?" for HTML.
func grammarOf(language, content string) unsafe.Pointer {
	if language == "php" && !strings.Contains(content, "<?") {
		return php.LanguagePHPOnly()
	}
	if g := grammars[language]; g != nil {
		return g()
	}
	return nil
}
