package simd

// ConvertTo stores the numbers of x in dst, which is at least as long, rounded to its type.
func ConvertTo[To, From Float](dst []To, x []From) {
	for i, v := range x {
		dst[i] = To(v)
	}
}
