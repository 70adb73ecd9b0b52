package policy

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/number"
)

// Inherit, as a profile's threshold, means the global one.
const Inherit = -1

// Settings decide when and how far a conversation is reduced. [DefaultSettings] returns working
// ones; the zero value acts only on overflow. Settings are plain values: a [Manager] takes new ones
// at any time.
type Settings struct {
	Preset string // name they come from, for reports

	Auto    bool    // master switch; off still truncates when used > allowed
	Percent float64 // threshold in percent of the window, 5 to 100
	Prepare float64 // percent from which a reduction is prepared in the background; 0: never
	Warn    float64 // percent from which users are warned; 0: never
	Target  float64 // percent of the window a reduction comes down to; 0: all that is allowed

	// Tokens is a size of the view, overhead included, that triggers a reduction in any window. If
	// it is below the threshold it replaces the threshold, and Prepare, Warn and Target shrink with
	// it. 0: none.
	Tokens int

	Profiles map[string]float64 // threshold by profile or model; -1 inherits

	Buffer       float64 // share of the window never used, 0 to 0.5
	KeepMessages int     // newest messages always kept, by count
	KeepFirst    int     // oldest messages always kept, by count, with the answers to their calls
	// the user's messages before the first answer kept, up to this share of the window, 0 to 1, and at
	// most a fifth of the target
	KeepHead float64
	// newest messages kept, by share of the window, 0 to 1, and at most a fifth of the target
	KeepShare    float64
	ExactReserve bool // always reserve requested output or 8192, whatever the window (Roo)

	// Pin is a regular expression (RE2): blocks with matching text are pinned. "" pins none.
	Pin   string
	Tools map[string]ToolPolicy // how the results of single tools are pruned, by tool name

	Rungs          []string // names of the strategies to climb, in order; nil: all
	Observe        bool     // reduce only on request (preset off)
	Cap            Cap
	MinSaving      float64 // least share a whole run must save, 0 to 1
	MinModelWindow int     // least window for a model summary, in tokens
	Spend          Spend   // limits on what model calls may cost
	RungSettings   RungSettings
}

// RungSettings are the numbers of the rungs that need no model.
type RungSettings struct {
	Truncate   float64 // share of the messages to hide at least, 0 to 1
	KeepLast   int     // hide all but the last N instead; 0: use Truncate
	ShrinkOver int     // length in characters from which arguments are shortened; 0: never
	PruneOver  int     // length in characters over which tool results become previews
	ErrorsOver int     // the same for results that are errors
	MediaKeep  int     // newest images kept
}

// ToolPolicy says how the results of one tool are pruned. The zero value is the default.
type ToolPolicy struct {
	Never    bool // not at all
	KeepLast int  // number of newest results left alone
	Over     int  // length in characters over which results become previews; 0: Fractions.PruneOver
}

// DefaultSettings returns the numbers of the preset frugal: everything without
// a model.
func DefaultSettings() Settings {
	return Settings{
		Preset: "frugal", Auto: true, Percent: 75, Warn: 70, Target: 50,
		Buffer: defaultBuffer, KeepMessages: 3, KeepHead: 0.10, KeepShare: 0.10,
		Cap: Cap{Turns: 10, Max: 3, NoProgress: 2}, MinSaving: 0.2, MinModelWindow: summaryMinWindow,
		RungSettings: RungSettings{Truncate: 0.5, ShrinkOver: 1000, PruneOver: 1000, ErrorsOver: 4000,
			MediaKeep: 1},
	}
}

// Threshold returns the percentage at which a conversation of the given profile
// is reduced, where it was set, and a warning for each value that is out of
// range and therefore not used. The global percentage is clamped to 5–100; a
// profile's must be -1 (inherit) or within 5–100, else the global one counts.
func (s Settings) Threshold(profile string) (percent float64, origin string, warnings []string) {
	percent, origin = s.Percent, "global"
	if c := clampPercent(percent); c != percent {
		warnings = append(warnings, fmt.Sprintf("threshold %g %% is outside %g to %g; using %g", percent,
			MinPercent, MaxPercent, c))
		percent = c
	}
	own, ok := s.Profiles[profile]
	switch {
	case !ok || own == Inherit:
	case own >= MinPercent && own <= MaxPercent:
		percent, origin = own, "profile "+profile
	default:
		warnings = append(warnings, fmt.Sprintf("threshold %g %% of profile %q is neither -1 nor within %g to %g; using the global %g", own, profile, MinPercent, MaxPercent, percent))
	}
	return percent, origin, warnings
}

// within returns the settings for a window, and its threshold: if Tokens are less than the
// threshold, the levels in percent of the window are scaled down.
func (s Settings) within(window int, percent float64, origin string) (Settings, float64, string) {
	if s.Tokens <= 0 || window <= 0 {
		return s, percent, origin
	}
	own := 100 * float64(s.Tokens) / float64(window)
	if own >= percent {
		return s, percent, origin
	}
	scale := own / percent
	s.Prepare, s.Warn, s.Target = s.Prepare*scale, s.Warn*scale, s.Target*scale
	if s.Target == 0 { // the allowed tokens exceed the threshold
		s.Target = own * withoutTarget
	}
	return s, own, number.Thousands(s.Tokens) + " tokens"
}

// withoutTarget is the share of [Settings.Tokens] that a reduction comes down to without a target.
const withoutTarget = 2.0 / 3

func clampPercent(p float64) float64 {
	if math.IsNaN(p) {
		return MaxPercent
	}
	return min(max(p, MinPercent), MaxPercent)
}

// Validate returns the first invalid setting, by name, as a [precis.CodeInvalid] error. Thresholds out of
// range are no error: they fall back with a warning, see [Settings.Threshold].
func (s Settings) Validate() error {
	share := func(name string, v, most float64) error {
		if math.IsNaN(v) || v < 0 || v > most {
			return precis.Errorf(precis.CodeInvalid, "check settings", "%s is %g, want 0 to %g", name, v,
				most)
		}
		return nil
	}
	count := func(name string, v int) error {
		if v < 0 {
			return precis.Errorf(precis.CodeInvalid, "check settings", "%s is %d, want 0 or more", name, v)
		}
		return nil
	}
	if _, err := regexp.Compile(s.Pin); err != nil {
		return precis.Errorf(precis.CodeInvalid, "check settings", "pin: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Tools)) {
		if t := s.Tools[name]; t.KeepLast < 0 || t.Over < 0 {
			return precis.Errorf(precis.CodeInvalid, "check settings", "tools.%s is %+v, want 0 or more",
				name, t)
		}
	}
	return firstError(
		share("prepare", s.Prepare, MaxPercent), share("warn", s.Warn, MaxPercent),
		share("target", s.Target, MaxPercent),
		share("buffer", s.Buffer, 0.5), share("keep_share", s.KeepShare, 1),
		share("keep_head", s.KeepHead, 1), share("worth", s.MinSaving, 1),
		share("truncate fraction", s.RungSettings.Truncate, 1),
		share("spend.conversation", s.Spend.Conversation, math.MaxFloat64),
		share("spend.owner", s.Spend.Owner, math.MaxFloat64),
		share("spend.day", s.Spend.Day, math.MaxFloat64), share("spend.warn", s.Spend.Warn, 1),
		count("keep_messages", s.KeepMessages), count("keep_first", s.KeepFirst),
		count("threshold_tokens", s.Tokens),
		count("min_model_window", s.MinModelWindow), count("keep_last", s.RungSettings.KeepLast),
		count("shrink_over", s.RungSettings.ShrinkOver), count("prune_over", s.RungSettings.PruneOver),
		count("prune_errors_over", s.RungSettings.ErrorsOver),
		count("media_keep", s.RungSettings.MediaKeep),
		count("cap.window", s.Cap.Turns), count("cap.max", s.Cap.Max),
		count("cap.no_progress", s.Cap.NoProgress),
	)
}

func firstError(errs ...error) error {
	i := slices.IndexFunc(errs, func(err error) bool { return err != nil })
	if i < 0 {
		return nil
	}
	return errs[i]
}
