package registry

import (
	"sync"

	"github.com/precis-dev/precis/measure"
	"github.com/precis-dev/precis/policy"
)

// meters cache the token counts of a conversation's views, by profile. Turns and readers use
// separate ones.
type meters struct {
	turns map[string]meter // guarded by the conversation's lock

	looking sync.Mutex // held while looks is used
	looks   map[string]meter
}

// meter is a meter of the counter of one manager.
type meter struct {
	of *policy.Manager
	*measure.Meter
}

// Meter returns the caching meter for views by a manager of the given profile. The conversation's
// lock must be held.
func (m *meters) Meter(profile string, mgr *policy.Manager) *measure.Meter {
	return meterOf(m.turns, profile, mgr)
}

// Looking calls f with a meter for views of a snapshot. Calls for one conversation wait for each
// other, but not for turns.
func (m *meters) Looking(profile string, mgr *policy.Manager, f func(*measure.Meter) error) error {
	m.looking.Lock()
	defer m.looking.Unlock()
	return f(meterOf(m.looks, profile, mgr))
}

func meterOf(meters map[string]meter, profile string, m *policy.Manager) *measure.Meter {
	known, ok := meters[profile]
	if !ok || known.of != m {
		known = meter{m, m.NewMeter()}
		meters[profile] = known
	}
	return known.Meter
}
