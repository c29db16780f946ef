// Package spec holds what a kernel, a learner or a method says of itself: its name,
// its parameters with their ranges, defaults and usual grids, and what it works on.
//
// A [Spec] stands in a declaration beside the algorithm that it describes. What
// else has to know of it reads the declaration: flags and their help, checks, grid
// files, keys of JSON, documents. Nothing else names it.
//
//	var heat = spec.Spec{
//		Name: "heat", Title: "exp(−βL̃)", Works: spec.Undirected,
//		Params: []spec.Param{{
//			Name: "beta", Symbol: "β", Meaning: "time", Range: spec.Above(0), Default: spec.Of(4.0),
//		}},
//	}
//	v, err := heat.Resolve(spec.Values{"beta": spec.Of(2.0)}, nil)
//	v.Number("beta") // 2
//
// Values that a declared function is given are always complete: [Spec.Resolve] puts
// defaults in place of what was not given, and refuses what is out of range or not
// a parameter. A 0 is a value like any other.
package spec
