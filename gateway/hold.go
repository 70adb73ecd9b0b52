package gateway

import (
	"context"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/gateway/polyfill"
)

// holdSilent is the longest wait of a client that cannot receive keep-alive bytes.
const holdSilent = 30 * time.Second

// holdIfOrdered makes the request wait if a user has ordered that, then plans it again, because the user may
// have edited the conversation. Meanwhile the client receives keep-alive bytes if its dialect has
// them. The error is [precis.CodeCanceled] when the client leaves.
func (x *exchange) holdIfOrdered(p *plan) (*plan, error) {
	if !p.managed || !p.remembered() || p.assembly != nil || p.poly.Active || p.poly.Only ||
		p.poly.Mode != polyfill.Forward {
		return p, nil
	}
	most := holdSilent
	if p.found.Prompt.Stream && p.direct == nil {
		most = conversation.MaxHold
	}
	waited, held := x.g.holds.Wait(x.r.Context(), x.owner, p.conv.ID(), most, p.keepAlive)
	x.waited += waited
	if !held {
		return p, nil
	}
	if err := context.Cause(x.r.Context()); err != nil {
		return nil, precis.Errorf(precis.CodeCanceled, "hold request", "%w", err)
	}
	return p.reviewed()
}

// reviewed makes the view again after the request was held. A user's edits stay as they are while
// the view fits.
func (p *plan) reviewed() (*plan, error) {
	next := *p
	err := next.locked(func(ctx context.Context, j *planner) error {
		j.conv.Refresh(ctx)
		if err := j.look(ctx); err != nil {
			return err
		}
		if j.fits() {
			return nil
		}
		return j.run(ctx)
	})
	if precis.CodeOf(err) == precis.CodeCanceled {
		return nil, err
	}
	if err != nil {
		p.g.o.Logger.WarnContext(p.r.Context(), "a request that was held is sent as it was",
			"conversation", p.conv.ID(), "code", string(precis.CodeOf(err)), "error", err)
		return p, nil
	}
	next.before = max(p.before, next.result.Report.Unreduced)
	return &next, nil
}

// ReleaseHolds sends all held requests and holds no more. Call it before the gateway ends.
func (g *Gateway) ReleaseHolds() { g.holds.End() }
