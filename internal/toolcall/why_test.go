package toolcall_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestWhyATestFailed reads the reports of several test programs.
func TestWhyATestFailed(t *testing.T) {
	passed := strings.Repeat("=== RUN   TestFine\n--- PASS: TestFine (0.00s)\n", 200)
	for name, tt := range map[string]struct{ result, line, why string }{
		"below":          {"--- FAIL: TestA (0.0s)\n    a_test.go:3: got 1, want 2\n    a_test.go:9: and more\nFAIL", "--- FAIL: TestA (0.0s)", "a_test.go:3: got 1, want 2"},
		"as it comes":    {passed + "=== RUN   TestA\n    a_test.go:3: got 1\n    a_test.go:4: got 2\n--- FAIL: TestA (0.0s)\n" + passed + "FAIL", "--- FAIL: TestA (0.0s)", "a_test.go:3: got 1"},
		"among notes":    {"--- FAIL: TestA (0.0s)\n    hooks.go:40: output of the hook: INFO stop\n    a_test.go:9: expected two checkpoints\n    a_test.go:12: more\nFAIL", "--- FAIL: TestA (0.0s)", "a_test.go:9: expected two checkpoints"},
		"behind notes":   {"--- FAIL: TestA (0.0s)\n    hooks.go:40: output of the hook: INFO stop\n    a_test.go:9: two checkpoints\nFAIL", "--- FAIL: TestA (0.0s)", "a_test.go:9: two checkpoints"},
		"subtest":        {"--- FAIL: TestA (0.0s)\n    --- FAIL: TestA/b (0.0s)\n        a_test.go:3: got 1\nFAIL", "--- FAIL: TestA (0.0s)", "a_test.go:3: got 1"},
		"of the next":    {"--- FAIL: TestA (0.0s)\n--- FAIL: TestB (0.0s)\n    b_test.go:3: got 1\nFAIL", "--- FAIL: TestA (0.0s)", ""},
		"of one before":  {"=== RUN   TestZ\n    z_test.go:1: a note\n--- PASS: TestZ (0.00s)\n=== RUN   TestA\n--- FAIL: TestA (0.0s)\nFAIL", "--- FAIL: TestA (0.0s)", ""},
		"jest":           {"FAIL src/a.test.ts\n  ● adds\n\n    expect(received).toBe(expected)\n\n    Expected: 2\n", "FAIL src/a.test.ts", "expect(received).toBe(expected) Expected: 2"},
		"pytest":         {"    def test_a():\n>       assert f() == 2\nE       assert 1 == 2\n\ntest_a.py:4: AssertionError\nFAILED test_a.py::test_a", "FAILED test_a.py::test_a", "E       assert 1 == 2"},
		"said already":   {"E       assert 1 == 2\nFAILED test_a.py::test_a - assert 1 == 2", "FAILED test_a.py::test_a - assert 1 == 2", ""},
		"cargo":          {"thread 't::it' panicked at src/lib.rs:10:9:\nassertion `left == right` failed\n\nerror: test failed, to rerun pass `--lib`", "error: test failed, to rerun pass `--lib`", "thread 't::it' panicked at src/lib.rs:10:9: assertion `left == right` failed"},
		"traceback":      {"Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    f()\nValueError: no such tax", "a.py:3 in <module>", "ValueError: no such tax"},
		"build":          {"# demo/a\n./a.go:3:5: undefined: x\n./a.go:9:5: other\nFAIL\tdemo/a [build failed]\nFAIL", "FAIL\tdemo/a [build failed]", "./a.go:3:5: undefined: x"},
		"two values":     {"FAIL src/a.test.ts\n  ● adds\n\n    expect(received).toBe(expected)\n\n    Expected: 2\n    Received: 3\n", "FAIL src/a.test.ts", "expect(received).toBe(expected) Expected: 2 Received: 3"},
		"a test of Rust": {"running 2 tests\ntest a ... ok\ntest q ... FAILED\n\nfailures:\n\n---- q stdout ----\nthread 'q' panicked at src/lib.rs:9:5:\nassertion `left == right` failed\n  left: 1\n right: 2\n", "test q ... FAILED", "thread 'q' panicked at src/lib.rs:9:5: assertion `left == right` failed left: 1 right: 2"},
		"Maven":          {"[ERROR] Tests run: 3, Failures: 1\n[ERROR]   QTest.doubles:9 expected:<1> but was:<2>\n[ERROR] BUILD FAILURE", "[ERROR] Tests run: 3, Failures: 1", "[ERROR]   QTest.doubles:9 expected:<1> but was:<2>"},
		"no test":        {"error: no space left\n a.go:3: x", "error: no space left", ""},
		"cut":            {"--- FAIL: TestA", "--- FAIL: TestA", ""},
	} {
		o := called(t, "bash", `{"command":"make test"}`, fmt.Sprintf("Exit code 1\n%s", tt.result), true).Outcome()
		if o.Line != tt.line || o.Why != tt.why {
			t.Errorf("%s: %q because of %q, want %q because of %q", name, o.Line, o.Why, tt.line, tt.why)
		}
	}
}
