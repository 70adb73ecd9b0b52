package preview

import (
	"strconv"
	"strings"
)

const (
	mostArrays  = 64 // arrays with a recorded shape
	mostMembers = 40 // recorded names of an object
	headMembers = 8  // of them in a head
	headRanges  = 3  // number ranges in a head
)

// jsonShape is the data for the head of a JSON preview: the members of the objects, how many
// elements arrays have, the extremes of their numbers.
type jsonShape struct {
	root    arrayShape // of the values of the text
	members int
	arrays  int
}

// arrayShape is the shape of the elements of an array, or of one object: the object's members count
// as members of its single element.
type arrayShape struct {
	name     string
	n        int // elements
	objects  int
	texts    int
	isArray  bool
	members  []member
	children []*arrayShape
	next     int // where the next member is expected
}

// member is one name and the extremes of its numbers.
type member struct {
	name         string
	numbers      int
	least, most  float64
	leastText    string
	greatestText string
}

// open records an array or object that begins in top, and returns the shape
// that its children are recorded in; nil for none.
func (s *jsonShape) open(top *jsonFrame, name string, closing byte, depth int) *arrayShape {
	if top.shape == nil {
		return nil
	}
	if closing == '}' && top.close != '}' { // an object in an array
		top.shape.objects++
		top.shape.next = 0
		return top.shape
	}
	if name != "" {
		top.shape.member(name)
	}
	if c := top.shape.child(name); c != nil && c.isArray == (closing == ']') {
		return c
	}
	if depth > shapedDepth || s.arrays == mostArrays {
		return nil
	}
	s.arrays++
	a := &arrayShape{name: name, isArray: closing == ']'}
	if closing == '}' {
		a.n, a.objects = 1, 1
	}
	top.shape.children = append(top.shape.children, a)
	return a
}

// scalar records a value that is no array or object.
func (s *jsonShape) scalar(top *jsonFrame, name, value string) {
	if top.close != '}' {
		if value[0] == '"' {
			top.shape.texts++
		}
		if isNumber(value) {
			top.shape.member("").extend(value)
		}
		return
	}
	m := top.shape.member(name)
	if m != nil && isNumber(value) {
		m.extend(value)
	}
}

func isNumber(value string) bool { return value[0] == '-' || isDigit(value[0]) }

// member finds or adds a name; nil when there are too many.
func (a *arrayShape) member(name string) *member {
	if a.next < len(a.members) && a.members[a.next].name == name {
		a.next++
		return &a.members[a.next-1]
	}
	for i := range a.members {
		if a.members[i].name == name {
			a.next = i + 1
			return &a.members[i]
		}
	}
	if len(a.members) == mostMembers {
		return nil
	}
	a.members = append(a.members, member{name: name})
	a.next = len(a.members)
	return &a.members[a.next-1]
}

// extend widens the range of m.
func (m *member) extend(value string) {
	if m == nil {
		return
	}
	x, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return
	}
	if m.numbers == 0 || x < m.least {
		m.least, m.leastText = x, value
	}
	if m.numbers == 0 || x > m.most {
		m.most, m.greatestText = x, value
	}
	m.numbers++
}

// head writes the head of the walked JSON.
func (w *jsonWalk) head() string {
	root := &w.shape.root
	head := "JSON lines: "
	switch {
	case root.n == 1 && len(root.children) == 1 && root.objects == 0:
		a := root.children[0]
		head = "JSON array of " + a.elements() + a.ranges("; ")
	case root.n == 1:
		head = "JSON object " + root.braces(true) + root.mainRanges()
	default:
		head += root.elements() + root.ranges("; ")
	}
	if w.cut {
		head += "; cut off"
	}
	return head
}

// elements writes "120 objects {id, name}".
func (a *arrayShape) elements() string {
	switch {
	case a.objects > 0 && a.objects*2 >= a.n:
		return count(a.n, "object") + " " + a.braces(false)
	case a.texts == a.n && a.n > 0:
		return count(a.n, "string")
	case len(a.members) > 0 && a.members[0].numbers == a.n:
		return count(a.n, "number")
	case len(a.children) > 0 && a.children[0].isArray:
		return count(a.n, "array") + " with " + a.children[0].elements()
	}
	return count(a.n, "value")
}

// braces writes the names of the members; with deep, also the content of their arrays.
func (a *arrayShape) braces(deep bool) string {
	var b strings.Builder
	b.WriteByte('{')
	n := 0
	for _, m := range a.members {
		if m.name == "" {
			continue
		}
		if n == headMembers {
			b.WriteString(", …")
			break
		}
		if n > 0 {
			b.WriteString(", ")
		}
		n++
		b.WriteString(shortName(m.name))
		if c := a.child(m.name); deep && c != nil && c.isArray {
			b.WriteString(": " + c.elements())
		}
	}
	b.WriteByte('}')
	return b.String()
}

func (a *arrayShape) child(name string) *arrayShape {
	for _, c := range a.children {
		if c.name == name {
			return c
		}
	}
	return nil
}

// mainRanges writes the ranges of the longest array in an object.
func (a *arrayShape) mainRanges() string {
	var longest *arrayShape
	for _, c := range a.children {
		if c.isArray && (longest == nil || c.n > longest.n) {
			longest = c
		}
	}
	if longest == nil || longest.n < 2 {
		return ""
	}
	return longest.ranges("; " + shortName(longest.name) + " ")
}

// ranges writes the extremes of the numbers after sep, ids first.
func (a *arrayShape) ranges(sep string) string {
	out := ""
	n := 0
	for _, ids := range []bool{true, false} {
		for i := range a.members {
			m := &a.members[i]
			isID := m.name == "id" || strings.HasSuffix(m.name, "_id")
			if isID != ids || m.numbers < 2 || m.least == m.most || n == headRanges {
				continue
			}
			n++
			out += sep + strings.TrimLeft(shortName(m.name)+" ", " ") + shortName(m.leastText) + "–" +
				shortName(m.greatestText)
			sep = ", "
		}
	}
	return out
}
