package export

import (
	_ "embed"
	"html/template"
	"io"

	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/block"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"text": func(c block.Content) string { return xmlSafe(text(c)) },
	"when": when, "shownBy": shownBy, "marks": marks,
	"long": func(s string) bool { return len(s) > 600 },
}).Parse(pageText))

// writeHTML writes one page without scripts or references to other files.
func writeHTML(w io.Writer, c conversation.Exported) error {
	return page.Execute(w, struct {
		conversation.Exported
		Title string
		Facts [][2]string
	}{c, titleOf(c.Conversation), facts(c)})
}
