package outline

import "strings"

// words describes the definitions of a language as they appear on a line.
type words struct {
	kinds   map[string]string // word that begins a definition → kind
	before  map[string]bool   // modifiers before it
	comment []string          // start of a line comment
	block   [2]string         // start and end of a multi-line comment
	calls   callForm          // form of definitions without a keyword
	heredoc bool              // <<WORD opens a multi-line text
	assign  bool              // name = function is a definition
	preproc bool              // lines that begin with # belong to the preprocessor
}

// callForm is the form of a "name(…)" that counts as a definition.
type callForm int

const (
	noCalls     callForm = iota
	typedCalls           // type name(…), as in Java, C# and C
	memberCalls          // name(…) {, only in a class, as in TypeScript
	shellCalls           // name() {
)

func set(list string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(list) {
		out[w] = true
	}
	return out
}

// kinds parses "kind=word,word …" into a map from word to kind.
func kinds(list string) map[string]string {
	out := map[string]string{}
	for _, item := range strings.Fields(list) {
		kind, names, _ := strings.Cut(item, "=")
		for _, w := range strings.Split(names, ",") {
			out[w] = kind
		}
	}
	return out
}

var (
	slashes = []string{"//"}
	hashes  = []string{"#"}
	dashes  = []string{"--"}
	stars   = [2]string{"/*", "*/"}
)

const access = "public private protected internal static final abstract sealed open override virtual async partial "

// wordsOf holds all languages that are scanned by lines.
var wordsOf = map[string]words{
	"go":         {comment: slashes, block: stars, kinds: kinds("function=func type=type")},
	"python":     {comment: hashes, kinds: kinds("function=def class=class"), before: set("async")},
	"javascript": scriptWords, "typescript": scriptWords, "tsx": scriptWords, "vue": scriptWords,
	"svelte": scriptWords, "astro": scriptWords,
	"rust": {comment: slashes, block: stars,
		kinds:  kinds("function=fn struct=struct,union enum=enum trait=trait impl=impl module=mod type=type macro=macro_rules"),
		before: set("pub async const unsafe extern default")},
	"java": typedWords("class=class,record enum=enum interface=interface,@interface",
		access+"default synchronized native strictfp non-sealed transient"),
	"groovy": typedWords("class=class enum=enum interface=interface trait=trait function=def", access),
	"csharp": typedWords("class=class,record struct=struct enum=enum interface=interface module=namespace type=delegate", access+"readonly unsafe extern new ref required"),
	"dart": typedWords("class=class,mixin,extension enum=enum type=typedef",
		access+"base external factory late"),
	"c": nativeWords, "cpp": nativeWords, "objc": nativeWords,
	"solidity": {comment: slashes, block: stars,
		kinds: kinds("class=contract,library interface=interface function=function,modifier,constructor,event struct=struct enum=enum"), before: set("abstract")},
	"ruby": {comment: hashes, block: [2]string{"=begin", "=end"}, heredoc: true,
		kinds:  kinds("function=def class=class module=module"),
		before: set("private protected public module_function private_class_method")},
	"crystal": {comment: hashes,
		kinds:  kinds("function=def,macro class=class module=module struct=struct enum=enum"),
		before: set("private protected abstract")},
	"php": {comment: []string{"//", "#"}, block: stars, heredoc: true,
		kinds:  kinds("function=function class=class interface=interface trait=trait enum=enum module=namespace"),
		before: set("public private protected static final abstract readonly")},
	"bash": {comment: hashes, heredoc: true, calls: shellCalls, kinds: kinds("function=function")},
	"kotlin": {comment: slashes, block: stars,
		kinds:  kinds("function=fun class=class,object enum=enum interface=interface type=typealias method=constructor"),
		before: set(access + "data annotation inner inline value suspend operator infix tailrec external companion expect actual lateinit const")},
	"scala": {comment: slashes, block: stars,
		kinds:  kinds("function=def class=class,object trait=trait enum=enum type=type"),
		before: set("private protected final abstract sealed implicit override lazy case inline transparent opaque open package")},
	"lua": {comment: dashes, block: [2]string{"--[[", "]]"}, assign: true, kinds: kinds("function=function"),
		before: set("local")},

	"swift": {comment: slashes, block: stars,
		kinds:  kinds("function=func,init,deinit class=class,actor struct=struct enum=enum interface=protocol impl=extension type=typealias"),
		before: set(access + "fileprivate mutating nonmutating convenience required indirect class @objc")},
	"elixir": {comment: hashes,
		kinds: kinds("function=def,defp,defmacro,defmacrop,defdelegate module=defmodule impl=defimpl interface=defprotocol")},
	"zig":  {comment: slashes, kinds: kinds("function=fn"), before: set("pub export extern inline")},
	"perl": {comment: hashes, heredoc: true, kinds: kinds("function=sub module=package")},
	"r":    {comment: hashes, assign: true},
	"julia": {comment: hashes, block: [2]string{"#=", "=#"},
		kinds: kinds("function=function,macro struct=struct module=module"), before: set("mutable")},
	"nim": {comment: hashes, kinds: kinds("function=proc,func,template,macro,iterator method=method")},
	"gdscript": {comment: hashes, kinds: kinds("function=func class=class,class_name enum=enum"),
		before: set("static")},
	"powershell": {comment: hashes, block: [2]string{"<#", "#>"},
		kinds: kinds("function=function,filter class=class enum=enum")},
	"protobuf": {comment: slashes, block: stars,
		kinds: kinds("struct=message enum=enum interface=service method=rpc")},
	"thrift": {comment: []string{"//", "#"}, block: stars,
		kinds: kinds("struct=struct,union,exception enum=enum interface=service type=typedef")},
	"graphql": {comment: hashes,
		kinds: kinds("type=type,input,union,scalar interface=interface enum=enum"), before: set("extend")},
	"fsharp": {comment: slashes, block: [2]string{"(*", "*)"},
		kinds: kinds("type=type module=module,namespace"), before: set("rec")},
	"haskell": {comment: dashes, block: [2]string{"{-", "-}"},
		kinds: kinds("type=data,newtype,type class=class impl=instance module=module")},
	"elm":   {comment: dashes, block: [2]string{"{-", "-}"}, kinds: kinds("type=type module=module")},
	"ocaml": {block: [2]string{"(*", "*)"}, kinds: kinds("type=type module=module class=class")},
	"vb": {comment: []string{"'"},
		kinds: kinds("function=Sub,Function class=Class module=Module,Namespace struct=Structure enum=Enum interface=Interface"), before: set("Public Private Protected Friend Shared Overrides Overridable MustInherit NotInheritable Partial Async")},
	"v": {comment: slashes, block: stars,
		kinds:  kinds("function=fn struct=struct interface=interface enum=enum type=type module=module"),
		before: set("pub")},
	"d": typedWords("class=class struct=struct,union interface=interface enum=enum module=module macro=template", access+"export extern nothrow pure"),
	"haxe": {comment: slashes, block: stars,
		kinds:  kinds("function=function class=class interface=interface enum=enum type=typedef"),
		before: set("public private static inline override final extern macro dynamic")},
}

var scriptWords = words{
	comment: slashes, block: stars, calls: memberCalls, assign: true,
	kinds:  kinds("function=function class=class interface=interface enum=enum type=type module=namespace,module"),
	before: set("export default declare abstract async public private protected static readonly override get set const"),
}

var nativeWords = words{
	comment: slashes, block: stars, calls: typedCalls, preproc: true,
	kinds:  kinds("class=class struct=struct,union enum=enum module=namespace type=typedef,using,concept"),
	before: set("static inline extern const constexpr virtual explicit friend template export typename"),
}

func typedWords(list, before string) words {
	return words{comment: slashes, block: stars, calls: typedCalls, kinds: kinds(list), before: set(before)}
}
