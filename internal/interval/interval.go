// Package interval computes 95 % confidence intervals for means and shares. Start with [Mean] and
// [Welch] for amounts, and with [Wilson] and [Newcombe] for shares. With too few values there is no
// interval.
package interval

import "math"

const (
	level = 0.975    // of the quantile for two sides of 95 %
	z     = 1.959964 // of the normal distribution at level
)

// Interval contains the true value with 95 % confidence.
type Interval struct{ Low, High float64 }

// alike is the relative deviation from the mean up to which values count as equal, to allow for
// rounding.
const alike = 1e-12

// Moments returns the mean of values and their sample variance: 0 and 0 without values, variance 0
// for one value and for equal values.
func Moments(values []float64) (mean, variance float64) {
	if len(values) == 0 {
		return 0, 0
	}
	for _, v := range values {
		mean += v
	}
	mean /= float64(len(values))
	if len(values) == 1 {
		return mean, 0
	}
	for _, v := range values {
		variance += (v - mean) * (v - mean)
	}
	variance /= float64(len(values) - 1)
	if math.Sqrt(variance) <= alike*math.Abs(mean) {
		return mean, 0
	}
	return mean, variance
}

// Mean returns the mean of values with Student's interval. There is no interval for fewer than two
// values, or for equal values, which do not show how much others would differ.
func Mean(values []float64) (float64, Interval, bool) {
	mean, variance := Moments(values)
	if variance == 0 {
		return mean, Interval{}, false
	}
	n := float64(len(values))
	half := TQuantile(level, n-1) * math.Sqrt(variance/n)
	return mean, Interval{mean - half, mean + half}, true
}

// Welch returns the difference of two means, b minus a, with the interval of Welch's test, which
// allows different variances (B. L. Welch, The generalization of "Student's" problem when several
// different population variances are involved, Biometrika 34, 1947). There is no interval when
// either has fewer than two values or when no values vary.
func Welch(a, b []float64) (float64, Interval, bool) {
	meanA, varA := Moments(a)
	meanB, varB := Moments(b)
	diff := meanB - meanA
	if len(a) < 2 || len(b) < 2 || varA+varB == 0 {
		return diff, Interval{}, false
	}
	nA, nB := float64(len(a)), float64(len(b))
	seA, seB := varA/nA, varB/nB
	df := (seA + seB) * (seA + seB) / (seA*seA/(nA-1) + seB*seB/(nB-1))
	half := TQuantile(level, df) * math.Sqrt(seA+seB)
	return diff, Interval{diff - half, diff + half}, true
}

// Wilson returns the score interval of a share found in n cases (E. B. Wilson, Probable inference,
// the law of succession, and statistical inference, Journal of the American Statistical Association
// 22, 1927). There is no interval for n under 2. The mean of n shares may be given, too: the
// interval is then rather too wide.
func Wilson(share float64, n int) (Interval, bool) {
	if n < 2 {
		return Interval{}, false
	}
	m := float64(n)
	center := (share + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(share*(1-share)/m+z*z/(4*m*m))
	return Interval{max(center-half, 0), min(center+half, 1)}, true
}

// Newcombe returns the difference of two shares, b minus a, with the interval derived from their
// two score intervals (R. G. Newcombe, Interval estimation for the difference between independent
// proportions, Statistics in Medicine 17, 1998, method 10). There is no interval when either share
// has none.
func Newcombe(a float64, nA int, b float64, nB int) (float64, Interval, bool) {
	diff := b - a
	ia, okA := Wilson(a, nA)
	ib, okB := Wilson(b, nB)
	if !okA || !okB {
		return diff, Interval{}, false
	}
	return diff, Interval{diff - math.Hypot(b-ib.Low, ia.High-a), diff + math.Hypot(ib.High-b, a-ia.Low)},
		true
}
