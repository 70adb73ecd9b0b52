package outline_test

import (
	"fmt"

	"github.com/precis-dev/precis/outline"
)

func ExampleOf() {
	const source = "package shape\n\ntype Circle struct {\n\tr float64\n}\n\nfunc (c Circle) Area() float64 {\n\treturn 3.14 * c.r * c.r\n}\n"
	for _, d := range outline.Of("shape.go", source) {
		fmt.Printf("%d-%d %s %s\n", d.Start, d.End, d.Kind, d.Name)
	}
	// Output:
	// 3-5 struct Circle
	// 7-9 method Area
}
