package mcpserver

import (
	"context"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
)

// scheme begins the URIs of resources.
const scheme = "precis://session/"

// mostResource is the most bytes of originals in a resource, which cannot be continued.
const mostResource = 256_000

func (s *server) addResources() {
	s.AddResourceTemplate(&mcp.ResourceTemplate{Name: "session", Title: "Digest of a session",
		MIMEType: "text/markdown", URITemplate: scheme + "{id}",
		Description: "Where a session stands; its id may be @last"}, s.read)
	s.AddResourceTemplate(&mcp.ResourceTemplate{Name: "original", Title: "Messages of a session",
		MIMEType: "text/plain", URITemplate: scheme + "{id}/{handle}",
		Description: "What a handle such as m12, m12-m14 or m12.b3 names, as it was said"}, s.read)
}

// read returns a resource.
func (s *server) read(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	id, handle, ok := parts(r.Params.URI)
	if !ok {
		return nil, mcp.ResourceNotFoundError(r.Params.URI)
	}
	home, ask, err := s.scope(r.ClientCapabilities(), r.Params.InputResponses)
	if err != nil {
		return nil, explain(err)
	}
	if ask != nil {
		// Without a list of contents the SDK reports an error when it asks the client itself, for
		// protocols before 2026-07-28.
		return &mcp.ReadResourceResult{InputRequests: ask, Contents: []*mcp.ResourceContents{}}, nil
	}
	c := call{home: home}
	text, kind := "", "text/plain"
	if handle != "" {
		text, err = c.original(ctx, id, handle)
	} else {
		text, err = c.digest(ctx, id)
		kind = "text/markdown"
	}
	if precis.CodeOf(err) == precis.CodeNotFound {
		return nil, mcp.ResourceNotFoundError(r.Params.URI)
	}
	if err != nil {
		return nil, explain(err)
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, MIMEType: kind,
		Text: text}}}, nil
}

// parts splits a URI.
func parts(uri string) (id, handle string, ok bool) {
	rest, ok := strings.CutPrefix(uri, scheme)
	if !ok {
		return "", "", false
	}
	id, handle, _ = strings.Cut(rest, "/")
	var err1, err2 error
	id, err1 = url.PathUnescape(id)
	handle, err2 = url.PathUnescape(handle)
	return id, handle, id != "" && err1 == nil && err2 == nil
}

func (c *call) original(ctx context.Context, id, handle string) (string, error) {
	h, err := handleOf(handle)
	if err != nil {
		return "", err
	}
	w, err := c.which(ctx, id)
	if err != nil {
		return "", err
	}
	r, err := conversation.Read(ctx, c.home, w.id, h,
		conversation.ReadOptions{Lines: mostResource, Bytes: mostResource})
	if err != nil {
		return "", err
	}
	if r.Next > 0 {
		r.Text += "\n[cut here; the tool expand reads on]"
	}
	return r.Text, nil
}

func (c *call) digest(ctx context.Context, id string) (string, error) {
	w, err := c.which(ctx, id)
	if err != nil {
		return "", err
	}
	d, err := conversation.Digest(ctx, c.home, w.id, conversation.DigestOptions{})
	return d.Text, err
}
