package iterative
import ("testing";"fmt";"os";"strings")
func TestBuild(t *testing.T) {
	if os.Getenv("BUILD") == "" { t.Skip() }
	for _, name := range strings.Split(os.Getenv("BUILD"),",") {
	a := load(name)
	n,_ := a.Dims()
	c0 := cpu()
	c, err := eliminate(ctx, a, 1, nil, 1, a.NNZ()*3/2, a.NNZ()*4)
	c1 := cpu()
	f := &Cholesky{entries: a.NNZ()}
	f.arrange(c)
	c2 := cpu()
	fmt.Printf("%s n %d nnz %d: eliminate %.2f arrange %.2f cpu, fill %.2f %v\n", name, n, a.NNZ(), c1-c0, c2-c1, f.Fill(), err)
	}
}
