package mcpserver

import (
	"encoding"
	"reflect"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"precis"
)

// schemas are the schemas of tools, made once for all servers that share them. It is
// safe for concurrent use.
type schemas struct {
	cache *mcp.SchemaCache
	mu    sync.Mutex
	outs  map[reflect.Type]*jsonschema.Schema
	ins   map[reflect.Type]*jsonschema.Schema
}

func newSchemas() *schemas {
	return &schemas{cache: mcp.NewSchemaCache(), outs: map[reflect.Type]*jsonschema.Schema{}, ins: map[reflect.Type]*jsonschema.Schema{}}
}

// in returns the schema of the arguments of a tool: that of their type, with numbers or
// texts for a [precis.Target].
func (d *schemas) in(t reflect.Type) *jsonschema.Schema {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ins[t] == nil {
		s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
			reflect.TypeFor[precis.Target](): {Types: []string{"number", "string"}},
		}})
		if err != nil {
			return nil // the one that the type leads to by itself
		}
		d.ins[t] = s
	}
	return d.ins[t]
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
