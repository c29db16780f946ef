// Package graphs holds kernels between graphs, whose vertices and edges may have labels: common walks, cyclic and tree patterns,
// and sets of parts.
//
//	c, err := graphs.Read(ctx, "MUTAG", nil)
//	values, err := graphs.Kernels().Named("label-pair").Prepare(ctx, c, nil, nil)
//	k := sparse.NewBlock[float64](len(c.Graphs), len(c.Graphs))
//	err = values.RowsTo(ctx, k, 0)
//
// [Kernels] lists the kernels. Values have the same bits for any number of workers and of rows at a time.
//
// Sources: Gärtner, Flach and Wrobel, On graph kernels, COLT 2003 (walks); Horváth, Gärtner and Wrobel, Cyclic pattern kernels,
// KDD 2004; Gärtner, Le and Smola, A short tour of kernel methods for graphs, 2006.
package graphs
