package lanczos

import (
	"errors"
	"io"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/internal/checkpoint"
	"github.com/heatwalk/heatwalk/internal/tall"
)

// errState is the error of going on from what another problem has saved.
var errState = errors.New("lanczos: the state to resume from is of another problem")

// resumePoint is where in a search the basis grows.
type resumePoint struct {
	first     bool    // on the map itself, before the first Ritz values are looked at
	strict    float64 // part of the tolerance that estimates of residuals are to reach
	look      int     // size of the basis at which Ritz values are looked at next
	converged int
}

const (
	byLanczosMethod = iota
	byLOBPCGMethod
)

// save has [Settings.Save] keep what move lists of a method.
func (w *solve) save(method int, move func(s *checkpoint.State)) error {
	if w.s.Save == nil {
		return nil
	}
	return w.s.Save(func(to io.Writer) error {
		s := checkpoint.StateTo(to)
		w.moveHead(s, &method, &w.s.spent)
		move(s)
		return s.Err()
	})
}

// resume reads by move what save kept of a method, if there is something. It reports whether
// it did, and of which method that is, with the products before.
func (w *solve) resume(method int, move func(s *checkpoint.State)) (resumed bool, was, spent int, err error) {
	if was = method; w.s.Resume == nil {
		return false, was, 0, nil
	}
	err = w.s.Resume(func(from io.Reader) error {
		s := checkpoint.StateFrom(from)
		w.moveHead(s, &was, &spent)
		if resumed = s.Err() == nil && was == method; resumed {
			move(s)
		}
		return s.Err()
	})
	return resumed, was, spent, err
}

// moveHead moves what says of which problem a state is, and of which method.
func (w *solve) moveHead(s *checkpoint.State, method, spent *int) {
	for _, is := range []int{w.n, len(w.result.Values), w.wanted, int(w.p.Which)} {
		was := is
		if s.Int(&was); was != is {
			s.Fail(errState)
		}
	}
	s.Int(method, spent)
}

// move moves all that Lanczos knows when a block has been added to the basis, which is made
// where it is read: it begins with so many vectors, and may have grown to twice as many.
func (w *solve) move(s *checkpoint.State, begins int) {
	k := &w.krylov
	basis, streams := w.result.Basis, int(k.streams)
	s.Int(&basis, &w.result.Restarts, &w.result.Degree, &k.products, &streams)
	s.Int(&k.locked, &k.size, &k.block, &k.last)
	if used := k.locked + k.size + k.block; min(k.locked, k.size, k.block, k.last) < 0 || used > basis+width || max(k.block, k.last) > width || basis != begins && basis != 2*begins {
		s.Fail(errState)
	}
	if s.Reads() && s.Err() == nil {
		w.result.Basis, k.streams = basis, uint64(streams)
		if err := w.reserve(w.bytes(basis), basisOf(basis)); err != nil {
			s.Fail(err)
			return
		}
		k.allocate(basis + width)
	}
	if s.Err() != nil {
		return
	}
	s.Bool(&k.ortho.replaced)
	s.Float(&k.ortho.longest, &w.norm, &w.worst)
	s.List(&w.found, w.n)
	s.List(&w.foundVerified, w.n)
	if w.at == nil {
		w.at = new(resumePoint)
	}
	s.Bool(&w.at.first)
	s.Float(&w.at.strict)
	s.Int(&w.at.look, &w.at.converged)
	for i := range k.size {
		checkpoint.Numbers(s, k.h[i*k.stride:][:k.size])
	}
	checkpoint.Numbers(s, k.r)
	k.f.move(s, w)
	w.moveStage(s)
	k.v.move(s, k.locked+k.size+k.block)
}

// move moves the first columns of a basis.
func (v *basis) move(s *checkpoint.State, cols int) {
	for i, part := range v.part {
		for c := range len(part) / (v.cols * segment) {
			checkpoint.Numbers(s, v.panel(i*v.inPart+c, 0)[:cols*segment])
		}
	}
}

// move moves a filter of the problem.
func (f *filter) move(s *checkpoint.State, w *solve) {
	f.sign = w.p.Which.sign()
	s.Float(&f.centre, &f.half, &f.far.steep)
	vectors := len(f.far.vectors)
	s.Int(&f.degree, &vectors)
	if vectors < 0 || vectors > width || f.degree < 1 {
		s.Fail(errState)
	}
	f.far.workers = w.krylov.e.Workers
	for j := range vectors {
		if s.Reads() {
			unit := make([]float64, w.n)
			checkpoint.Numbers(s, unit)
			saved := append([]float64(nil), unit...)
			v := tall.NewDisjointOf(make([]uint32, w.n), 1, unit)
			copy(v.Unit, saved) // a unit vector, with its bits
			f.far.vectors = append(f.far.vectors, v)
		} else {
			checkpoint.Numbers(s, f.far.vectors[j].Unit)
		}
	}
}

// moveStage moves what is known between restarts. In the interior the spectrum is that of the
// folded map.
func (w *solve) moveStage(s *checkpoint.State) {
	there := w.stage != nil
	if s.Bool(&there); !there {
		return
	}
	if s.Reads() {
		w.stage = new(stage)
	}
	st := w.stage
	s.Float(&st.lowest, &st.bottom, &st.before, &st.rate)
	s.Int(&st.far, &st.most, &st.stalled, &st.since, &st.ahead, &st.above)
	s.Bool(&st.planned)
	if inside := w.inside(); inside != nil {
		st.spectrum = inside.ranks
	} else {
		moveRanks(s, &st.spectrum, w.n)
	}
}

// moveRanks moves a spectrum of so many values at the most.
func moveRanks(s *checkpoint.State, ranks *[]ranked, most int) {
	var all []float64
	for _, r := range *ranks {
		all = append(all, r.value, r.rank)
	}
	s.List(&all, 2*most)
	if s.Reads() {
		*ranks = nil
		for i := 0; i+1 < len(all); i += 2 {
			*ranks = append(*ranks, ranked{all[i], all[i+1]})
		}
	}
}

// load goes on with Lanczos from what [Settings.Resume] reads, if that is something, with a
// basis that begins with so many vectors. The error is errSlow where LOBPCG has taken over.
func (w *solve) load(begins int) error {
	resumed, was, spent, err := w.resume(byLanczosMethod, func(s *checkpoint.State) { w.move(s, begins) })
	if err == nil && was == byLOBPCGMethod {
		w.krylov.products = spent
		return errSlow
	}
	w.resumed = resumed
	return err
}

// move moves all that LOBPCG knows between two iterations.
func (g *lobpcg) move(s *checkpoint.State) {
	s.Int(&g.result.Products, &g.result.Restarts, &g.held)
	s.Float(&g.norm)
	s.List(&g.theta, g.cols)
	if g.held < 0 || g.held > g.cols || len(g.theta) != g.cols {
		s.Fail(errState)
	}
	if s.Err() != nil {
		return
	}
	if s.Reads() && g.held > 0 {
		g.inner = mat.NewDense(g.held, g.held, nil)
	}
	if g.held > 0 {
		checkpoint.Numbers(s, g.inner.RawMatrix().Data)
	}
	g.krylov.v.move(s, g.cols+g.held)
}

// pass is what the interior knows between the steps of its inner problem.
type pass struct {
	tolerance float64 // of the inner problem
	spent     int     // products before the inner problem
	ranks     []ranked
}

// move moves it.
func (p *pass) move(s *checkpoint.State, w *solve) error {
	s.Float(&p.tolerance, &w.norm)
	s.Int(&p.spent, &w.result.Restarts)
	moveRanks(s, &p.ranks, 1+width*densitySteps)
	return s.Err()
}

// inner returns settings of the inner problem, whose state is saved behind that of the pass.
func (p *pass) inner(w *solve) Settings {
	inner := w.s
	if w.s.Save != nil {
		inner.Save = func(write func(io.Writer) error) error {
			return w.s.Save(func(to io.Writer) error {
				return errors.Join(p.move(checkpoint.StateTo(to), w), write(to))
			})
		}
	}
	if w.s.Resume != nil {
		inner.Resume = func(read func(io.Reader) error) error {
			return w.s.Resume(func(from io.Reader) error {
				err := new(pass).move(checkpoint.StateFrom(from), w)
				if err == nil {
					err = read(from)
				}
				return err
			})
		}
	}
	return inner
}

// load reads what was saved of a pass, if that is something.
func (p *pass) load(w *solve) error {
	if w.s.Resume == nil {
		return nil
	}
	return w.s.Resume(func(from io.Reader) error { return p.move(checkpoint.StateFrom(from), w) })
}

// reach is the distance from σ within which all eigenvalues lie, about.
func (p *pass) reach() float64 { return -p.ranks[len(p.ranks)-1].value }
