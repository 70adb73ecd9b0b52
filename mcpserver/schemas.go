package mcpserver

import (
	"encoding"
	"reflect"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// schemas are the schemas of tools, made once for all servers that share them. It is
// safe for concurrent use.
type schemas struct {
	cache *mcp.SchemaCache
	mu    sync.Mutex
	outs  map[reflect.Type]*jsonschema.Schema
}

func newSchemas() *schemas {
	return &schemas{cache: mcp.NewSchemaCache(), outs: map[reflect.Type]*jsonschema.Schema{}}
}

// out returns the schema of a result: its members and their types, and no more. What
// is below them would take most of the tokens that definitions may have, and its names
// say what it is.
func (d *schemas) out(t reflect.Type) *jsonschema.Schema {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.outs[t] == nil {
		d.outs[t] = &jsonschema.Schema{Type: "object", Properties: members(t)}
	}
	return d.outs[t]
}

func members(t reflect.Type) map[string]*jsonschema.Schema {
	out := map[string]*jsonschema.Schema{}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && name != "-" {
			out[name] = &jsonschema.Schema{Type: kindOf(f.Type)}
		}
	}
	return out
}

// kindOf returns what a type is in JSON.
func kindOf(t reflect.Type) string {
	if t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return "string"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int64:
		return "integer"
	case reflect.Float64:
		return "number"
	case reflect.Slice:
		return "array"
	case reflect.String:
		return "string"
	}
	return "object"
}
