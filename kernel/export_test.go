package kernel

import "math/big"

type Oracle = oracle

func NewOracle(n int, at func(i, j int) float64) *Oracle {
	o := &oracle{found: map[string]*eigen{}, degree: make([]*big.Float, n)}
	o.a = exactMatrix(n, func(i, j int) *big.Float { return exact(at(i, j)) })
	for i, row := range o.a {
		o.degree[i] = exact(0)
		for _, w := range row {
			o.degree[i].Add(o.degree[i], exact(0).Abs(w))
		}
	}
	return o
}

func (o *oracle) Values(matrix string) (values []*big.Float) {
	return append(values, o.eigenOf(matrix, 0).values...)
}

// Apply returns f of L, L̃, A or S. Eigenvalues of Laplacians that are 0 but for rounding are set to 0.
func (o *oracle) Apply(matrix string, f func(x *big.Float) *big.Float) [][]*big.Float {
	e := o.eigenOf(matrix, 0)
	return e.apply(func(_ int, x *big.Float) *big.Float {
		if (matrix == "L" || matrix == "L̃") && o.isNull(e, x) {
			x = exact(0)
		}
		return f(exact(0).Set(x))
	})
}

func (o *oracle) isNull(e *eigen, x *big.Float) bool {
	largest := e.values[len(e.values)-1]
	return x.Sign() == 0 || x.MantExp(nil) < largest.MantExp(nil)-exactBits/2
}

var (
	Exact      = exact
	ExactExp   = exactExp
	ExactPower = exactPower
)
