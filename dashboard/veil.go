package dashboard

import (
	"html/template"
	"reflect"
	"strings"
	"text/template/parse"
)

// If the reader wants a mask, templates mask all plain strings that a pipeline prints, unless one
// of the template functions has produced them. So content of conversations is masked by default,
// and our own texts must be printed by the function own. Values of named types, such as kinds,
// states and handles, are our own; attribute values are addresses and form fields.

// veiler is the name of the function that prints bare values.
const veiler = "veil"

// maskText returns the printed form of a bare value: texts are masked.
func maskText(v any) any {
	if s, ok := v.(string); ok {
		return masked(s)
	}
	if r := reflect.ValueOf(v); r.Kind() == reflect.Pointer && !r.IsNil() {
		return maskText(r.Elem().Interface())
	}
	return v
}

// unveiled are the files of pages without content of conversations.
var unveiled = map[string]bool{"settings.html": true, "login.html": true, "experiments.html": true}

// maskTemplates makes the bare pipelines of all templates print through [maskText].
func maskTemplates(t *template.Template) {
	for _, one := range t.Templates() {
		if one.Tree != nil && !unveiled[one.Tree.ParseName] {
			w := maskWalk{tree: one.Tree}
			w.list(one.Tree.Root)
		}
	}
}

// maskWalk traverses a template in order. inTag reports whether it is within a tag, so that the
// text there is part of an attribute.
type maskWalk struct {
	tree  *parse.Tree
	inTag bool
}

func (w *maskWalk) list(l *parse.ListNode) {
	if l == nil {
		return
	}
	for _, n := range l.Nodes {
		switch n := n.(type) {
		case *parse.TextNode:
			w.text(string(n.Text))
		case *parse.ActionNode:
			if !w.inTag && len(n.Pipe.Decl) == 0 && bare(n.Pipe) {
				w.wrap(n.Pipe)
			}
		case *parse.IfNode:
			w.branches(n.List, n.ElseList)
		case *parse.RangeNode:
			w.branches(n.List, n.ElseList)
		case *parse.WithNode:
			w.branches(n.List, n.ElseList)
		}
	}
}

// branches traverses both branches of a node, each from the same state.
func (w *maskWalk) branches(list, other *parse.ListNode) {
	inTag := w.inTag
	w.list(list)
	after := w.inTag
	w.inTag = inTag
	w.list(other)
	w.inTag = after
}

func (w *maskWalk) text(s string) {
	if at := strings.LastIndexAny(s, "<>"); at >= 0 {
		w.inTag = s[at] == '<'
	}
}

// wrap appends a call of the veil to a pipeline.
func (w *maskWalk) wrap(p *parse.PipeNode) {
	name := parse.NewIdentifier(veiler).SetPos(p.Pos).SetTree(w.tree)
	p.Cmds = append(p.Cmds, &parse.CommandNode{NodeType: parse.NodeCommand, Pos: p.Pos,
		Args: []parse.Node{name}})
}

// formatting are functions of the template language that print their arguments.
var formatting = map[string]bool{"print": true, "printf": true, "println": true, "index": true, "slice": true,
	"and": true, "or": true, "html": true, "js": true, "urlquery": true, "call": true, "short": true}

// bare reports whether a pipeline prints a value directly, not the result of one of our functions.
func bare(p *parse.PipeNode) bool {
	last := p.Cmds[len(p.Cmds)-1]
	f, ok := last.Args[0].(*parse.IdentifierNode)
	return !ok || formatting[f.Ident]
}
