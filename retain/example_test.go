package retain_test

import (
	"fmt"

	"github.com/precis-dev/precis/retain"
)

func ExampleScan() {
	const text = "parse_args in src/cli.go:12 fails: TypeError, see https://example.com/1 (commit 3f2a9bc, --verbose)"
	retain.Scan(text, func(a retain.Anchor) { fmt.Println(a.Kind, text[a.Start:a.End]) })
	// Output:
	// identifier parse_args
	// path src/cli.go
	// error TypeError
	// url https://example.com/1
	// hash 3f2a9bc
	// flag --verbose
}

func ExampleConstraints() {
	for _, rule := range retain.Constraints("Please fix it. Never touch main.go. 必ずテストを実行してください。") {
		fmt.Println(rule)
	}
	// Output:
	// Never touch main.go.
	// 必ずテストを実行してください。
}
