package dashboard

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
	"strings"

	"github.com/precis-dev/precis"
)

// contentTypes are the content types of the files; the tables of the system may differ.
var contentTypes = map[string]string{".css": "text/css; charset=utf-8",
	".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}

//go:embed assets
var assetFiles embed.FS

// files are the stylesheet, the script and the icon. Their names contain a hash of their content,
// so browsers cache them forever.
type files struct {
	names  map[string]string // names in pages, by the name in the source
	bodies map[string][]byte // by the name in pages
}

func readFiles() (files, error) {
	f := files{names: map[string]string{}, bodies: map[string][]byte{}}
	entries, err := assetFiles.ReadDir("assets")
	for _, e := range entries {
		data, rerr := assetFiles.ReadFile(path.Join("assets", e.Name()))
		if rerr != nil {
			err = rerr
			break
		}
		sum := sha256.Sum256(data)
		base, ext, _ := strings.Cut(e.Name(), ".")
		name := base + "-" + hex.EncodeToString(sum[:6]) + "." + ext
		f.names[e.Name()], f.bodies[name] = name, data
	}
	if err != nil {
		return f, precis.Errorf(precis.CodeInternal, "read assets", "%w", err)
	}
	return f, nil
}

// serve answers a request for a file.
func (f files) serve(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("file")
	body, ok := f.bodies[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", contentTypes[path.Ext(name)])
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("ETag", `"`+name+`"`)
	if r.Header.Get("If-None-Match") == `"`+name+`"` {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	_, _ = w.Write(body) // fails only if the reader has gone
}
