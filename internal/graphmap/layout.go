package graphmap

import "math"

const (
	smoothing = 60  // steps of the vectors that the layout begins with
	steps     = 150 // of the layout
)

// layout returns a position of each of n groups. Cost: n² and the number of links, in each step.
func layout(n int, links []link) [][2]float64 {
	x := start(n, links)
	degree := degrees(n, links)
	ideal := 1 / math.Sqrt(float64(max(1, n))) // distance between groups, in a drawing of area 1
	push := make([][2]float64, n)
	for step := range steps {
		clear(push)
		for i := range n {
			for j := range i {
				dx, dy := x[i][0]-x[j][0], x[i][1]-x[j][1]
				f := ideal * ideal / math.Max(dx*dx+dy*dy, 1e-6)
				push[i][0] += dx * f
				push[i][1] += dy * f
				push[j][0] -= dx * f
				push[j][1] -= dy * f
			}
		}
		for _, l := range links {
			dx, dy := x[l.a][0]-x[l.b][0], x[l.a][1]-x[l.b][1]
			f := math.Hypot(dx, dy) / ideal * math.Min(1, 4*l.weight/math.Min(degree[l.a], degree[l.b]))
			push[l.a][0] -= dx * f
			push[l.a][1] -= dy * f
			push[l.b][0] += dx * f
			push[l.b][1] += dy * f
		}
		longest := 0.1 * math.Pow(0.01, float64(step)/steps) // distance of a step
		for i := range n {
			px, py := push[i][0]-x[i][0], push[i][1]-x[i][1] // links to the center hold parts together
			length := math.Hypot(px, py)
			scale := math.Min(length, longest) / math.Max(length, 1e-12)
			x[i][0] += px * scale
			x[i][1] += py * scale
		}
	}
	return x
}

// degrees returns the sum of the weights of the links of each group, at least 1.
func degrees(n int, links []link) []float64 {
	degree := make([]float64, n)
	for _, l := range links {
		degree[l.a] += l.weight
		degree[l.b] += l.weight
	}
	for i := range degree {
		degree[i] = math.Max(degree[i], 1)
	}
	return degree
}

// start returns two vectors of slow variation: pseudo-random ones after steps of the walk that rests in half of its steps,
// made orthogonal to the constant one and to each other.
func start(n int, links []link) [][2]float64 {
	degree, x, y := degrees(n, links), make([][2]float64, n), make([][2]float64, n)
	for i := range x {
		bits := scatter(i)
		x[i] = [2]float64{float64(bits>>40)/(1<<24) - 0.5, float64(bits&(1<<24-1))/(1<<24) - 0.5}
	}
	for range smoothing {
		clear(y)
		for _, l := range links {
			for k := range 2 {
				y[l.a][k] += l.weight * x[l.b][k]
				y[l.b][k] += l.weight * x[l.a][k]
			}
		}
		for i := range x {
			for k := range 2 {
				x[i][k] = (x[i][k] + y[i][k]/degree[i]) / 2
			}
		}
		orthogonalize(x, degree)
	}
	return x
}

// orthogonalize subtracts from the columns their means, and from the second its projection on the first, and gives both
// the mean square 1/12, that of numbers between −1/2 and 1/2. Sums are weighted by the degrees.
func orthogonalize(x [][2]float64, degree []float64) {
	var total, product float64
	var mean, square [2]float64
	for i, d := range degree {
		total += d
		for k := range 2 {
			mean[k] += d * x[i][k]
		}
	}
	for i := range x {
		for k := range 2 {
			x[i][k] -= mean[k] / total
		}
		square[0] += degree[i] * x[i][0] * x[i][0]
		product += degree[i] * x[i][0] * x[i][1]
	}
	for i := range x {
		x[i][1] -= product / math.Max(square[0], 1e-300) * x[i][0]
		square[1] += degree[i] * x[i][1] * x[i][1]
	}
	for i := range x {
		for k := range 2 {
			x[i][k] /= math.Sqrt(math.Max(12*square[k]/total, 1e-300))
		}
	}
}
