package main

import "math"

// sample is one fact or one line at one cut.
type sample struct {
	x      []float64
	y      bool    // whether the fact was needed
	share  float64 // for a line: the share of it that was repeated
	weight float64
	cut    int
	length int
}

// target is the value to predict, 0 to 1.
func (s *sample) target() float64 {
	if s.y {
		return 1
	}
	return s.share
}

// fit returns the weights of a logistic regression with a ridge penalty, by
// Newton's method.
func fit(data []sample, n int, ridge float64) []float64 {
	w := make([]float64, n)
	for range 30 {
		grad, hess := make([]float64, n), newMatrix(n)
		for _, s := range data {
			p := predict(w, s.x)
			g, h := s.weight*(s.target()-p), s.weight*p*(1-p)
			for i, xi := range s.x {
				if xi == 0 {
					continue
				}
				grad[i] += g * xi
				for j := 0; j <= i; j++ {
					hess[i][j] += h * xi * s.x[j]
				}
			}
		}
		for i := range n {
			grad[i] -= ridge * w[i]
			hess[i][i] += ridge
			for j := 0; j < i; j++ {
				hess[j][i] = hess[i][j]
			}
		}
		step := solve(hess, grad)
		size := 0.0
		for i := range w {
			w[i] += step[i]
			size += math.Abs(step[i])
		}
		if size < 1e-6 {
			break
		}
	}
	return w
}

func predict(w, x []float64) float64 {
	z := 0.0
	for i, v := range x {
		z += v * w[i]
	}
	return 1 / (1 + math.Exp(-z))
}

func newMatrix(n int) [][]float64 {
	m := make([][]float64, n)
	for i := range m {
		m[i] = make([]float64, n)
	}
	return m
}

// solve returns x with a·x = b by Gaussian elimination with pivoting. It
// modifies both arguments.
func solve(a [][]float64, b []float64) []float64 {
	n := len(b)
	for i := range n {
		best := i
		for r := i + 1; r < n; r++ {
			if math.Abs(a[r][i]) > math.Abs(a[best][i]) {
				best = r
			}
		}
		a[i], a[best], b[i], b[best] = a[best], a[i], b[best], b[i]
		if a[i][i] == 0 {
			continue
		}
		for r := i + 1; r < n; r++ {
			f := a[r][i] / a[i][i]
			for c := i; c < n; c++ {
				a[r][c] -= f * a[i][c]
			}
			b[r] -= f * b[i]
		}
	}
	x := make([]float64, n)
	for i := n - 1; i >= 0; i-- {
		x[i] = b[i]
		for c := i + 1; c < n; c++ {
			x[i] -= a[i][c] * x[c]
		}
		if a[i][i] != 0 {
			x[i] /= a[i][i]
		}
	}
	return x
}
