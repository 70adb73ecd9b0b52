package dashboard_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/recording"
	"github.com/precis-dev/precis/dashboard"
	"github.com/precis-dev/precis/store"
)

// kinship is a recording whose conversation began others, and one of which says that it
// began the first.
type kinship struct{ *recording.Home }

func (r kinship) Family(_ context.Context, id string) (conversation.Family, error) {
	one := func(id string) conversation.ListItem {
		return conversation.NewListItem("", store.Record{ID: id, Title: "task " + id, Window: 1000}, false)
	}
	switch id {
	case r.ID():
		parent := one("root")
		return conversation.Family{Parent: &parent, Children: []conversation.ListItem{one("grandchild")}}, nil
	case "root":
		return conversation.Family{Children: []conversation.ListItem{one("aunt"), one(r.ID())}}, nil
	case "grandchild":
		return conversation.Family{Children: []conversation.ListItem{one("root")}}, nil
	}
	return conversation.Family{}, nil
}

func TestTheFamilyIsATree(t *testing.T) {
	h := kinship{home(t, window, messages(3))}
	p := serve(t, h.Home, func(o *dashboard.Options) {
		o.Home = func(*http.Request) (conversation.Home, error) { return h, nil }
	})
	p.wants(p.get(200, p.one), ">Family</a>")
	page := p.get(200, p.one+"/family")
	_, list, _ := strings.Cut(page, `<ul class="list">`)
	at := -1
	for _, want := range []string{`<li class="row" data-row data-id="root"`, `<li class="row d1" data-row data-id="aunt"`, `<li class="row d1" data-row data-id="` + p.ID(), `<li class="row d2" data-row data-id="grandchild"`} {
		i := strings.Index(list, want)
		if i <= at {
			t.Errorf("%s stands at %d, after %d", want, i, at)
		}
		at = i
	}
	if strings.Count(list, `data-id="root"`) != 1 {
		t.Error("a circle is walked twice")
	}
	p = serve(t, home(t, window, messages(3)), nil)
	if strings.Contains(p.get(200, p.one), ">Family</a>") {
		t.Error("a conversation without relatives has a family")
	}
}
