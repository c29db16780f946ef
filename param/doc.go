// Package param declares kernels, learners and methods: their names, their parameters with ranges, defaults and usual grids,
// and their kinds of input.
//
// A [Spec] is part of a declaration in the file of the algorithm. Flags and their help, checks, grid files and keys of JSON
// follow from it.
//
//	var heat = param.Spec{
//		Name: "heat", Title: "exp(−βL̃)", Works: param.Undirected,
//		Params: []param.Param{{
//			Name: "beta", Symbol: "β", Meaning: "time", Range: param.Above(0), Default: param.Of(4.0),
//		}},
//	}
//	v, err := heat.Resolve(param.Values{"beta": param.Of(2.0)}, nil)
//	v.Number("beta") // 2
//
// A declared function always gets complete values: [Spec.Resolve] fills in defaults for missing parameters, and rejects
// unknown parameters and values out of range. A 0 is a value, not a missing value.
package param
