package control

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/policy"
)

type object = map[string]any

func document(t *testing.T) object {
	t.Helper()
	raw, err := readOpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	var doc object
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestTheDocumentHasEveryRouteAndNoOther(t *testing.T) {
	doc := document(t)
	var registered, documented []string
	byName := map[string]object{}
	for _, rt := range routes {
		registered = append(registered, rt.method+" "+Prefix+rt.path)
	}
	for path, item := range doc["paths"].(object) {
		for method, op := range item.(object) {
			documented = append(documented, strings.ToUpper(method)+" "+path)
			byName[op.(object)["operationId"].(string)] = op.(object)
		}
	}
	slices.Sort(registered)
	slices.Sort(documented)
	if !slices.Equal(registered, documented) {
		t.Errorf("routes %v\ndocument %v", registered, documented)
	}
	for _, rt := range routes {
		op := byName[rt.name]
		if op == nil {
			t.Errorf("there is no operation %s", rt.name)
			continue
		}
		var query, inPath []string
		list, _ := op["parameters"].([]any)
		for _, p := range list {
			name := p.(object)["name"].(string)
			if p.(object)["in"] == "path" {
				inPath = append(inPath, "{"+name+"}")
			} else {
				query = append(query, name)
			}
		}
		if !slices.Equal(query, rt.query) {
			t.Errorf("%s: parameters %v, want %v", rt.name, query, rt.query)
		}
		if want := regexp.MustCompile(`\{\w+\}`).FindAllString(rt.path, -1); !slices.Equal(inPath, want) {
			t.Errorf("%s: in the path %v, want %v", rt.name, inPath, want)
		}
		m := matcher{t: t, schemas: doc["components"].(object)["schemas"].(object), seen: map[string]bool{}}
		m.operation(rt, op)
	}
}

// matcher compares Go types with schemas.
type matcher struct {
	t       *testing.T
	schemas object
	seen    map[string]bool
}

func (m matcher) operation(rt route, op object) {
	if body, _ := op["requestBody"].(object); (body != nil) != (rt.in != nil) {
		m.t.Errorf("%s: the body is documented: %v", rt.name, body != nil)
	} else if body != nil {
		m.match(rt.name+" body", reflect.TypeOf(rt.in), schemaIn(body), !rt.open)
	}
	if rt.out == nil {
		return
	}
	code := map[bool]string{true: "201", false: "200"}[rt.made]
	m.match(rt.name, reflect.TypeOf(rt.out), schemaIn(op["responses"].(object)[code].(object)), false)
}

func schemaIn(o object) object {
	return o["content"].(object)["application/json"].(object)["schema"].(object)
}

// match reports where a type and a schema differ.
func (m matcher) match(at string, t reflect.Type, s object, request bool) {
	if ref, ok := s["$ref"].(string); ok {
		name := strings.TrimPrefix(ref, "#/components/schemas/")
		if m.seen[name] {
			return
		}
		m.seen[name] = true
		s = m.schemas[name].(object)
	}
	want := kindOf(t)
	got, _ := s["type"].(string)
	if got != want {
		m.t.Errorf("%s: type %q, want %q", at, got, want)
		return
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case want == "array":
		m.match(at+"[]", t.Elem(), s["items"].(object), request)
	case want == "object" && t.Kind() == reflect.Struct:
		m.matchFields(at, t, s, request)
	}
}

func (m matcher) matchFields(at string, t reflect.Type, s object, request bool) {
	types, required := map[string]reflect.Type{}, []string{}
	fieldsOf(t, types, &required)
	props, _ := s["properties"].(object)
	if a, b := slices.Sorted(maps.Keys(types)), slices.Sorted(maps.Keys(props)); !slices.Equal(a, b) {
		m.t.Errorf("%s: the type has %v, the document %v", at, a, b)
	}
	var listed []string
	list, _ := s["required"].([]any)
	for _, r := range list {
		listed = append(listed, r.(string))
	}
	slices.Sort(required)
	if !request && !slices.Equal(listed, required) {
		m.t.Errorf("%s: required are %v, the document says %v", at, required, listed)
	}
	if request && s["additionalProperties"] != false {
		m.t.Errorf("%s: unknown fields are refused, the document allows them", at)
	}
	for name, ft := range types {
		if p, ok := props[name].(object); ok {
			m.match(at+"."+name, ft, p, request)
		}
	}
}

func fieldsOf(t reflect.Type, types map[string]reflect.Type, required *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() && !f.Anonymous {
			continue
		}
		tag, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		if tag == "-" {
			continue
		}
		if f.Anonymous && tag == "" {
			fieldsOf(f.Type, types, required)
			continue
		}
		types[tag] = f.Type
		if !strings.Contains(opts, "omit") {
			*required = append(*required, tag)
		}
	}
}

// kindOf returns the JSON type of what a Go type is written as.
func kindOf(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[time.Time](), reflect.TypeFor[precis.Handle](), reflect.TypeFor[precis.Fingerprint]():
		return "string"
	case reflect.TypeFor[json.RawMessage](), reflect.TypeFor[policy.Target]():
		return "" // anything, or one of several
	}
	switch t.Kind() {
	case reflect.Pointer:
		return kindOf(t.Elem())
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int64:
		return "integer"
	case reflect.Float64:
		return "number"
	case reflect.String:
		return "string"
	case reflect.Slice:
		return "array"
	}
	return "object"
}

func TestTheSchemaOfEventsIsTheirType(t *testing.T) {
	m := matcher{t: t, schemas: document(t)["components"].(object)["schemas"].(object), seen: map[string]bool{}}
	m.match("Event", reflect.TypeFor[Event](), object{"$ref": "#/components/schemas/Event"}, false)
}

func TestListenersHearOfTheirOwnersAlone(t *testing.T) {
	e := NewEvents()
	admin, other := e.Listen("*", 0), e.Listen("somebody", 0)
	e.PublishEdits("p1", "c1", EditNote{ID: "e1"})
	e.publish(Event{Type: EventSettings})
	if len(admin.C) != 2 || len(other.C) != 1 {
		t.Errorf("the admin hears of %d events, somebody else of %d", len(admin.C), len(other.C))
	}
	e.Close()
	if e.Listen("*", 0) != nil {
		t.Error("closed events have listeners")
	}
}

// A turn that crosses the warn level, or whose condensation failed, is followed by a
// warning; condensations that the model asked for are edits.
func TestTurnsWarn(t *testing.T) {
	e := NewEvents()
	l := e.Listen("p1", 0)
	turns := 9
	outlook := &conversation.Outlook{Percent: 71.5, Near: true, Room: conversation.Room{TurnsLeft: &turns}}
	for _, turn := range []gateway.Turn{
		{Report: &policy.Report{}, Outlook: outlook},
		{Report: &policy.Report{}, Outlook: outlook, Warned: true},
		{Report: &policy.Report{}, Outlook: outlook, CondenseError: "condense_api_failed"},
		{Report: &policy.Report{}, Outlook: outlook, ByModel: []policy.Report{{TriggeredBy: precis.TriggeredModel, Edits: []policy.EditSummary{{ID: "e1", Saved: 7}}}}},
		{CondenseError: "none: it was passed through", Warned: true},
	} {
		turn.Owner, turn.Conversation = "p1", "c1"
		e.PublishTurn(t.Context(), turn)
	}
	e.Close()
	var got []string
	for ev := range l.C {
		text := ev.Event.Type
		if ev.Event.Owner != "p1" || ev.Event.Conversation != "c1" {
			t.Errorf("%+v", ev.Event)
		}
		if w := ev.Event.Warning; w != nil {
			text += fmt.Sprintf(" %s %g %d %s", w.Kind, w.Percent, *w.TurnsLeft, w.Error)
		}
		if n := ev.Event.Turn; n != nil && n.TurnsLeft != nil {
			text += fmt.Sprintf(" %g %d %s", n.Percent, *n.TurnsLeft, n.Condense)
		}
		for _, n := range ev.Event.Edits {
			text += fmt.Sprintf(" %s %s %d", n.ID, n.TriggeredBy, n.Saved)
		}
		got = append(got, text)
	}
	want := []string{"turn 71.5 9 ", "warning window 71.5 9 ", "turn 71.5 9 ", "warning condensation 71.5 9 condense_api_failed", "turn 71.5 9 condense_api_failed",
		"edits e1 model 7", "turn 71.5 9 ", "turn"}
	if !slices.Equal(got, want) {
		t.Errorf("events\n%q, want\n%q", got, want)
	}
}
