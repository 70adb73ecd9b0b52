package interval

import "math"

// TQuantile returns the p quantile of Student's t distribution with df degrees of
// freedom, which need not be whole: the value that is not passed with probability
// p. It is for p from 0.5 to under 1 and df over 0; otherwise NaN.
func TQuantile(p, df float64) float64 {
	if !(p >= 0.5 && p < 1 && df > 0) {
		return math.NaN()
	}
	low, high := 0.0, 1.0
	for tCDF(high, df) < p && !math.IsInf(high, 1) {
		low, high = high, high*2
	}
	for range 200 { // halving; ends at neighboring numbers
		mid := low + (high-low)/2
		if mid == low || mid == high {
			break
		}
		if tCDF(mid, df) < p {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

// tCDF is the probability of at most t, t not negative: 1 − I(x; df/2, 1/2)/2
// with x = df/(df+t²) (NIST Digital Library of Mathematical Functions, 8.17;
// Abramowitz and Stegun, 26.7.1 and 26.5.27).
func tCDF(t, df float64) float64 {
	return 1 - incompleteBeta(df/(df+t*t), df/2, 0.5)/2
}

// incompleteBeta is the regularized incomplete beta function I(x; a, b), by the
// continued fraction DLMF 8.17.22 where it converges fast, else by the symmetry
// DLMF 8.17.4.
func incompleteBeta(x, a, b float64) float64 {
	switch {
	case x <= 0:
		return 0
	case x >= 1:
		return 1
	case x > (a+1)/(a+b+2):
		return 1 - incompleteBeta(1-x, b, a)
	}
	lab, _ := math.Lgamma(a + b)
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	front := math.Exp(lab - la - lb + a*math.Log(x) + b*math.Log1p(-x))
	return front / a * betaFraction(x, a, b)
}

// betaFraction evaluates the continued fraction 1/(1+d1/(1+d2/(1+…))) of DLMF
// 8.17.22 from its beginning, by the method of Lentz.
func betaFraction(x, a, b float64) float64 {
	const (
		most   = 10_000
		enough = 1e-15
		tiny   = 1e-300 // in the place of 0, which would be divided by
	)
	nonzero := func(v float64) float64 {
		if math.Abs(v) < tiny {
			return tiny
		}
		return v
	}
	f, c, d := 1.0, 1.0, 0.0
	for n := 1; n <= most; n++ {
		term := betaTerm(n, x, a, b)
		d = 1 / nonzero(1+term*d)
		c = nonzero(1 + term/c)
		f *= c * d
		if math.Abs(c*d-1) < enough {
			break
		}
	}
	return 1 / f
}

// betaTerm is d(n) of DLMF 8.17.23.
func betaTerm(n int, x, a, b float64) float64 {
	m := float64(n / 2)
	if n%2 == 0 {
		return m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
	}
	return -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
}
