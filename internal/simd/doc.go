// Package simd holds the inner loops of heatwalk: short functions over slices
// that do nearly all of the arithmetic.
//
// Every loop has one plain Go body, generic over float32 and float64, which
// defines the result to the bit. An assembly twin may stand beside it for a
// processor that has one; it adds and multiplies in the same order, so that
// both give the same bits. Products are rounded before they are added
// (T(a*b) + c): a fused multiply-add would round once less on some machines.
package simd
