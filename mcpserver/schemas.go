package mcpserver

import (
	"context"
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/policy"
)

// schemas caches the schemas of tools for all servers that share them. It is safe for concurrent
// use.
type schemas struct {
	cache *mcp.SchemaCache
	mu    sync.Mutex
	outs  map[reflect.Type]*jsonschema.Schema
	ins   map[reflect.Type]*jsonschema.Schema
}

func newSchemas() *schemas {
	return &schemas{cache: mcp.NewSchemaCache(), outs: map[reflect.Type]*jsonschema.Schema{},
		ins: map[reflect.Type]*jsonschema.Schema{}}
}

// in returns the schema of the arguments of a tool, generated from their type, with a string for a
// [policy.Target]. Each value has a single type, because some APIs refuse every request with a tool
// schema that contains a union.
func (d *schemas) in(t reflect.Type) *jsonschema.Schema {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ins[t] == nil {
		s, err := jsonschema.ForType(t,
			&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
				reflect.TypeFor[policy.Target](): {Type: "string"},
			}})
		if err != nil {
			return nil // the library then generates the schema
		}
		removeNull(s)
		d.ins[t] = s
	}
	return d.ins[t]
}

// lenient accepts arguments that such schemas cannot express: a number for a target, and null for
// an omitted argument.
func lenient(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if call, ok := req.(*mcp.CallToolRequest); ok && call.Params != nil {
			var args map[string]json.RawMessage
			if json.Unmarshal(call.Params.Arguments, &args) == nil {
				call.Params.Arguments = plainArguments(args, call.Params.Arguments)
			}
		}
		return next(ctx, method, req)
	}
}

// plainArguments returns arguments with the target as a string and without null; raw if no change
// is needed.
func plainArguments(args map[string]json.RawMessage, raw json.RawMessage) json.RawMessage {
	changed := false
	for name, v := range args {
		switch kind := jsonspan.Kind(v); {
		case kind == 'n':
			delete(args, name)
			changed = true
		case kind == '0' && name == "target":
			args[name], changed = json.RawMessage(strconv.Quote(string(v))), true
		}
	}
	if !changed {
		return raw
	}
	out, err := json.Marshal(args)
	if err != nil {
		return raw
	}
	return out
}

// removeNull removes null from the types that a schema, its properties and its items allow.
func removeNull(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	s.Types = slices.DeleteFunc(s.Types, func(t string) bool { return t == "null" })
	if len(s.Types) == 1 {
		s.Type, s.Types = s.Types[0], nil
	}
	for _, p := range s.Properties {
		removeNull(p)
	}
	removeNull(s.Items)
	removeNull(s.AdditionalProperties)
}

// resultSchema returns the schema of a result with only its top-level members and their types. Nested
// members would use most of the tokens allowed for definitions, and their names are
// self-explanatory. Members of embedded structs are omitted, too; results contain them.
func (d *schemas) resultSchema(t reflect.Type) *jsonschema.Schema {
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
