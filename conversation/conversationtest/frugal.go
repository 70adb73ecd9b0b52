package conversationtest

import (
	"testing"

	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
)

// Frugal is a manager that reduces only when it is asked to.
func Frugal(t *testing.T) *policy.Manager {
	t.Helper()
	settings, err := preset.Settings(preset.Frugal)
	if err != nil {
		t.Fatal(err)
	}
	settings.Auto = false
	m, err := preset.New(preset.Options{Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	return m
}
