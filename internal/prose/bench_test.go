package prose

import "testing"

// BenchmarkKinds asks of which kind a sentence is, as a digest does of each that the agent wrote.
func BenchmarkKinds(b *testing.B) {
	const sentence = "The handler reads the table twice, once for each caller, and keeps what it has read in a list of its own."
	for name, kind := range map[string]func(string) bool{"concludes": Concludes, "open": LeavesOpen, "code": IsCode, "narrates": Narrates} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				kind(sentence)
			}
		})
	}
}
