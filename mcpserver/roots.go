//lint:file-ignore SA1019 Clients announce roots; the protocol supports them until it drops them.

package mcpserver

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/store"
)

// rootsID names the request for the client's roots.
const rootsID = "roots"

// scope returns the conversations that a client may see: all of the home or, if the home knows the
// folders of its conversations and the client announces roots, the conversations below the roots.
// If there are none, it shows the conversations without a known folder. Ask is a request that the
// client has to answer first; nil: none.
func (s *server) scope(can *mcp.ClientCapabilities,
	answers mcp.InputResponseMap) (h conversation.Home, ask mcp.InputRequestMap, err error) {
	placed, ok := s.o.Home.(conversation.Placed)
	if !ok || can == nil || can.RootsV2 == nil {
		return s.o.Home, nil, nil
	}
	answer, ok := answers[rootsID].(*mcp.ListRootsResult)
	if !ok {
		return nil, mcp.InputRequestMap{rootsID: &mcp.ListRootsParams{}}, nil
	}
	in := inRoots{Home: s.o.Home, placed: placed}
	for _, r := range answer.Roots {
		folder, ok := folderOf(r.URI)
		if !ok {
			return nil, nil, precis.Errorf(precis.CodeInvalid, "read roots", "%.80q is no file URI", r.URI)
		}
		in.folders = append(in.folders, folder)
	}
	return in, nil, nil
}

// folderOf returns the folder that a file URI names.
func folderOf(uri string) (string, bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" {
		return "", false
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/")
	}
	return filepath.Clean(filepath.FromSlash(path)), path != ""
}

// inRoots is a home that is restricted to the conversations below some folders, and conversations
// without a known folder.
type inRoots struct {
	conversation.Home
	placed  conversation.Placed
	folders []string
}

// Folder returns the folder of a conversation.
func (h inRoots) Folder(ctx context.Context, id string) (string, error) {
	return h.placed.Folder(ctx, id)
}

func (h inRoots) holds(ctx context.Context, id string) (bool, error) {
	folder, err := h.placed.Folder(ctx, id)
	if err != nil || folder == "" {
		return err == nil, err
	}
	return slices.ContainsFunc(h.folders, func(root string) bool {
		rel, err := filepath.Rel(root, filepath.Clean(folder))
		return err == nil && filepath.IsLocal(rel)
	}), nil
}

// check returns an error for a conversation that the client may not see. The error does not reveal
// whether one exists outside the roots.
func (h inRoots) check(ctx context.Context, id string) error {
	ok, err := h.holds(ctx, id)
	if code := precis.CodeOf(err); err == nil && !ok || code == precis.CodeNotFound ||
		code == precis.CodeInvalid {
		return &precis.Error{Code: precis.CodeNotFound, Op: "find conversation",
			Err:  fmt.Errorf("there is no conversation %.80q below the roots of this client", id),
			Hint: "open its folder in the client, or ask the user for it"}
	}
	return err
}

// Look calls f with a conversation inside the roots.
func (h inRoots) Look(ctx context.Context, id string, f func(*conversation.Subject) error) error {
	if err := h.check(ctx, id); err != nil {
		return err
	}
	return h.Home.Look(ctx, id, f)
}

// Edit calls f with a conversation inside the roots.
func (h inRoots) Edit(ctx context.Context, id string, f func(*conversation.Subject) error) error {
	if err := h.check(ctx, id); err != nil {
		return err
	}
	return h.Home.Edit(ctx, id, f)
}

// rootsPage is how many conversations are loaded at once to select those inside the roots.
const rootsPage = 200

// List returns a page of the conversations inside the roots. Its cursor consists of the home's
// cursor and the number of conversations already examined on that page.
func (h inRoots) List(ctx context.Context,
	q conversation.ListQuery) (out conversation.Page[conversation.ListItem], err error) {
	limit, skip := q.Limit, 0
	if limit == 0 {
		limit = 50
	}
	if q.Cursor != "" {
		if skip, q.Cursor, err = cutCursor(q.Cursor); err != nil {
			return out, err
		}
	}
	q.Limit, out.Items = rootsPage, []conversation.ListItem{}
	for {
		page, err := h.Home.List(ctx, q)
		if err != nil {
			return out, err
		}
		for i := skip; i < len(page.Items); i++ {
			if len(out.Items) == limit {
				out.Next = fmt.Sprintf("%d:%s", i, q.Cursor)
				return out, nil
			}
			ok, err := h.holds(ctx, page.Items[i].ID)
			if err != nil {
				return out, err
			}
			if ok {
				out.Items = append(out.Items, page.Items[i])
			}
		}
		if page.Next == "" {
			return out, nil
		}
		q.Cursor, skip = page.Next, 0
	}
}

// cutCursor takes a cursor apart.
func cutCursor(s string) (skip int, inner string, err error) {
	number, inner, ok := strings.Cut(s, ":")
	if skip, err = strconv.Atoi(number); err != nil || !ok || skip < 0 {
		return 0, "", &precis.Error{Code: precis.CodeInvalid, Op: "read cursor", Place: "cursor",
			Hint: "use next_cursor of an earlier answer as it is"}
	}
	return skip, inner, nil
}

// mostFound is how many hits are loaded to select those inside the roots.
const mostFound = 500

// Search finds messages of conversations inside the roots.
func (h inRoots) Search(ctx context.Context, q store.SearchQuery) (conversation.SearchResults, error) {
	limit := q.Limit
	q.Limit = mostFound
	found, err := h.Home.Search(ctx, q)
	if err != nil {
		return found, err
	}
	known := map[string]bool{}
	kept := []conversation.SearchHit{}
	for _, f := range found.Items {
		ok, seen := known[f.Conversation]
		if !seen {
			if ok, err = h.holds(ctx, f.Conversation); err != nil {
				return found, err
			}
			known[f.Conversation] = ok
		}
		if ok && len(kept) < limit {
			kept = append(kept, f)
		}
	}
	found.Items = kept
	return found, nil
}
