package simd

// Take stores the elements of x that a list names, rounded to the type of dst, which is as
// long as the list:
//
//	dst[j] = x[at[j]]
//
// The list is best in increasing order: the twin fetches what lies a little further in x.
func Take[D, S Float](dst []D, x []S, at []int) {
	dst = dst[:len(at)]
	n := take(dst, x, at)
	for j := n; j < len(at); j++ {
		dst[j] = D(x[at[j]])
	}
}
