package outline

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// lined reads nothing by a grammar.
type lined struct{}

func (lined) Parse(string, string) ([]Definition, []Doubt, bool) { return nil, nil, false }

// What source code looks like that is no sample: forms that were found by
// comparing with the grammars, see docs/decisions/006-outlines.md.
func TestFormsAreReadByLines(t *testing.T) {
	for _, tt := range []struct{ name, path, source, want string }{
		{"text at the margin", "a.go", "func a() {\n\tx := `\nfunc no() {\n}\n`\n\ty()\n}\n", "1-7 function a\n"},
		{"a template", "a.js", "function a() {\n  return `\nfunction no() {\n${b(`x`)}\n`\n}\n", "1-6 function a\n"},
		{"a pattern with a quotation mark", "a.js", "function a() {\n  b(/`/)\n}\nfunction c() {\n}\n", "1-3 function a\n4-5 function c\n"},
		{"a text without end", "a.js", "x`\nfunction a() {\n}\n", "2-3 function a\n"},
		{"raw text", "a.rs", "fn a() {\n    b(r#\"\nfn no() {}\n\"x\n\"#);\n    c('\"');\n}\nfn d<'a>() {\n}\n", "1-7 function a\n8-9 function d\n"},
		{"text of lines", "a.kt", "fun a() {\n  b(\"\"\"\nfun no() {}\n\"\"\")\n}\n", "1-5 function a\n"},
		{"verbatim text", "A.cs", "class A\n{\n    void B()\n    {\n        c(@\"\n{\"\"d\"\": 1}\n}\n\");\n    }\n#if X\n    void E() { }\n#endif\n}\n", "1-13 class A\n  3-9 method B\n  11-11 method E\n"},
		{"a comment behind code", "a.c", "int a(void) { /*\nint no(void)\n{\n*/\n  return 1;\n}\n", "1-6 function a\n"},
		{"a comment before code", "a.c", "/* b */ int a(void) {\n}\n", "1-2 function a\n"},
		{"a type on a line", "a.c", "static int\na(void)\n{\n  return 1;\n}\n", "1-5 function a\n"},
		{"a label", "a.c", "int a(void) {\n  goto out;\nout:\n  return 1;\n}\n", "1-5 function a\n"},
		{"types of C", "a.c", "#define\tC(x)\tx\ntypedef char a[3][4];\ntypedef int b(int);\nstruct d {\n  union {\n    int e;\n  } f;\n};\n", "1-1 macro C\n2-2 type a\n3-3 type b\n4-8 struct d\n"},
		{"classes of C++", "a.cpp", "template <typename T> class A : B {\npublic:\n  A(int);\n  void print() const; // comment\n  bool operator()(int) { return c.d(); }\n};\ntemplate <> struct E<int> {\n};\nTEST(f, g) {\n  h.i();\n}\n",
			"1-6 class A\n  3-3 method A\n  4-4 method print\n  5-5 method operator()\n7-8 struct E<int>\n9-11 function TEST\n"},
		{"arguments on lines", "a.tsx", "export const A = ({\n  b,\n}: {\n  b: number;\n}) => {\n  return b;\n};\nconst C = (\n  <D />\n);\nexport const E = memo(\n  ({ f }) => f,\n);\nconst G = icon(\n  <H />,\n);\n", "1-7 function A\n11-13 function E\n"},
		{"members of objects", "a.js", "module.exports = {\n  a: function (b) {\n  },\n  [c.d]: (e) => e,\n  f() {\n  },\n  g: 1,\n};\nh(() => {\n  i() {\n  }\n});\n", "2-3 function a\n4-4 function [c.d]\n5-6 method f\n"},
		{"generic parameters on lines", "a.ts", "export class A extends B<\n  C\n> {\n  constructor(d: E);\n  *[f.g]() {\n  }\n}\n", "1-7 class A\n  4-4 method constructor\n  5-6 method [f.g]\n"},
		{"names of Scala", "a.scala", "private[a] trait B {\n  def ++:[C](d: C): B = e\n  private[a] def f = 1\n}\n", "1-4 trait B\n  2-2 method ++:\n  3-3 method f\n"},
		{"names of Kotlin", "a.kt", "class A\n  constructor(\n    b: Int,\n  ) {\n  @Test fun `c d`() {\n  }\n}\n", "1-7 class A\n  5-6 method `c d`\n"},
	} {
		if diff := cmp.Diff(tt.want, listed(Parsed(lined{}, tt.path, tt.source))); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", tt.name, diff)
		}
	}
}
