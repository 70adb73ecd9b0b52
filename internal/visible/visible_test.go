package visible_test

import (
	"testing"

	"github.com/precis-dev/precis/internal/visible"
)

func TestPagesStayPages(t *testing.T) {
	page := "<p title=\"a\u202eb\">\x1b[31m é 👩\u200d🚀 \xff</p>"
	want := "<p title=\"a&lt;U+202E&gt;b\">␛[31m é 👩\u200d🚀 &lt;0xFF&gt;</p>"
	if got := visible.HTML(page); got != want {
		t.Errorf("got %q", got)
	}
}
