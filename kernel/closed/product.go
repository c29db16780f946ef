package closed

// Function is a kernel of two things that are numbered from 0.
type Function func(i, j int) float64

// Product returns the kernel of the product of graphs with so many vertices each, two
// of which are neighbours if they differ in one place and are neighbours there: of
// generators H₁⊗I + I⊗H₂ it is exp(β·) = exp(βH₁)⊗exp(βH₂), equation (8). Vertices
// are numbered in lexicographic order, the last place changes fastest.
func Product(sizes []int, factors []Function) Function {
	if len(sizes) != len(factors) {
		panic(badArgument)
	}
	return func(i, j int) float64 {
		value := 1.0
		for a := len(sizes) - 1; a >= 0; a-- {
			n := sizes[a]
			value *= factors[a](i%n, j%n)
			i, j = i/n, j/n
		}
		return value
	}
}

// Term is a vertex with its weight in a combination.
type Term struct {
	Vertex int
	Weight float64
}

// Conjugate returns T·K·Tᵀ: the kernel of combinations of vertices, where image lists
// the terms of row i of T. It is positive semidefinite as K is. If the rows of T are
// orthonormal and span what the generator H of K maps to itself, as those of images in
// a mirror with weights 1/√2 do, it is the exponential kernel of the conjugated
// generator T·H·Tᵀ.
func Conjugate(k Function, image func(i int) []Term) Function {
	return func(i, j int) float64 {
		sum := 0.0
		for _, a := range image(i) {
			for _, b := range image(j) {
				sum += a.Weight * b.Weight * k(a.Vertex, b.Vertex)
			}
		}
		return sum
	}
}
