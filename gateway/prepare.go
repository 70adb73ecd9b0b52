package gateway

import (
	"cmp"
	"context"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/condense"
	"github.com/precis-dev/precis/gateway/intent"
	"github.com/precis-dev/precis/gateway/registry"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
)

// prepareFor is the time limit of a reduction in the background.
const prepareFor = 10 * time.Minute

// prepare starts a reduction in the background, unless there is one.
func (j *planner) prepare() {
	if j.conv.Prepared != nil || !j.recordsEdits {
		return
	}
	p := &registry.Preparation{Done: make(chan struct{}), Base: len(j.work.Edits), Model: j.usesModel()}
	snap := *j.work
	snap.Transcript = j.work.Transcript.Prefix(j.found.Len)
	r := j.req
	r.Conversation, r.Meter, r.TriggeredBy = &snap, nil, precis.TriggeredBackground
	creds := j.credentialsOf()
	if j.g.background(func(ctx context.Context) {
		defer close(p.Done)
		ctx, cancel := context.WithTimeout(WithCredentials(ctx, creds), prepareFor)
		defer cancel()
		release, ok := j.reserveReduction(ctx, p)
		defer release()
		if p.Skipped = !ok; !ok {
			return
		}
		res, err := j.mgr.Manage(ctx, r)
		if err != nil && ctx.Err() == nil {
			j.g.o.Logger.WarnContext(ctx, "preparing failed", "conversation", snap.ID, "error", err)
		}
		p.Edits, p.Failed = res.Edits, condense.Failure(res.Report.Steps, err)
		p.Saved = res.Report.Before.Tokens - res.Report.After.Tokens
	}) {
		j.conv.Prepared = p
	}
}

// reserveReduction reserves the right to a reduction in the background. A paid model call takes the lease of
// the conversation, which excludes all replicas; other reductions take a processor.
func (j *planner) reserveReduction(ctx context.Context, p *registry.Preparation) (release func(), ok bool) {
	if p.Model {
		return j.conv.Lease(ctx)
	}
	release, err := j.g.processors.Enter(ctx)
	if err != nil {
		return func() {}, false
	}
	return release, true
}

// soonest is how many turns of the usual size may be left until a reduction is due when its
// preparation, without a model, begins.
const soonest = 3

// prepareNext prepares a reduction without a model, while the answer to this request streams, if one of
// the next turns is likely to need it. It does not do so for the roo preset, which reduces only
// when due.
func (j *planner) prepareNext() {
	settings := j.mgr.Settings()
	room := j.outlook.Room
	if !j.recordsEdits || j.Work != intent.Turn || j.result.Report.Counter == "" || !settings.Auto ||
		settings.Observe || settings.Preset == preset.Roo ||
		room.TurnsLeft == nil || *room.TurnsLeft > soonest || room.Left == 0 || j.usesModel() {
		return
	}
	if 2*float64(room.Growth) > j.slackRoom() {
		return // that turn would add too much
	}
	if p := j.conv.Prepared; p != nil {
		if !p.Finished() || p.Base == len(j.work.Edits) &&
			(len(p.Edits) == 0 || j.stillSuffices(p, room.Growth)) {
			return // there was no reduction to make; the turn that needs one tries again
		}
		j.conv.Prepared = nil // too much will have been added since
	}
	j.prepare()
}

// slack is the share of the room between the target and the trigger that messages added after a
// preparation may fill.
const slack = 0.3

// slackRoom returns how many tokens may be added after a reduction was prepared.
func (j *planner) slackRoom() float64 {
	d := j.decision()
	trigger := min(float64(d.Window.Tokens)*d.Threshold/100, d.Allowed)
	return slack * max(trigger-float64(d.Target), 0)
}

// stillSuffices reports whether a finished reduction still brings the view near the target if more
// tokens are added to it.
func (j *planner) stillSuffices(p *registry.Preparation, more int) bool {
	d := j.decision()
	return float64(d.Used+more-p.Saved) <= float64(d.Target)+j.slackRoom()
}

// takePrepared waits for a preparation, records its edits and measures the view again. Done is true
// when no further reduction is due.
func (j *planner) takePrepared(ctx context.Context, p *registry.Preparation) (done bool, err error) {
	stop := j.keepAlive()
	select {
	case <-p.Done:
	case <-ctx.Done():
	}
	stop()
	if !p.Finished() {
		return false, precis.Errorf(precis.CodeCanceled, "wait for the summary", "%w", context.Cause(ctx))
	}
	j.conv.Prepared, j.failed = nil, cmp.Or(p.Failed, j.failed)
	if len(p.Edits) == 0 || p.Base != len(j.work.Edits) || !p.Model && !j.stillSuffices(p, 0) {
		return false, nil
	}
	if j.conv.Record(ctx, j.mgr, p.Edits...) == nil {
		j.action = actionReduced
	}
	j.conv.Written.Forget()
	if err := j.look(ctx); err != nil {
		return false, err
	}
	a := j.decision().Action
	return a != policy.ActionReduce && a != policy.ActionTruncate || j.fits() && j.action == actionReduced,
		nil
}
