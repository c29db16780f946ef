// Package simd holds the inner loops of heatwalk: short functions over slices that do nearly all of the arithmetic.
//
// Every loop has one plain Go body, generic over float32 and float64, which defines the result to the bit. A loop may
// also have an assembly twin, which adds and multiplies in the same order. A twin computes whole groups of elements,
// such as scaleLanes; the plain body computes the other elements. Products are rounded before they are added (T(a*b) +
// c): a fused multiply-add would round once less on some machines.
//
// Vector lanes of the twins run across columns, never along a sum, unless the plain body splits its sum likewise.
// Because a gather waits for memory, its twin prefetches the rows that it needs a fixed number of entries later, also
// beyond the last row of the call. Because the sum of a long row also waits for its own last addition, two long rows
// are summed at a time. Go cannot interrupt assembly, so callers pass at most some ten thousand entries in one call.
//
// The twins are written by the generator in gen, a module of its own, and chosen at run time by the features of the
// processor. The build tag noasm leaves them out.
package simd

//go:generate go -C gen run . -out ../twins_amd64.s -stubs ../twins_amd64.go -pkg simd
