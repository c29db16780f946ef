package simd

// ConvertTo stores the numbers of x in dst, rounded to its type. dst must be at least as long as x.
func ConvertTo[To, From Float](dst []To, x []From) {
	for i, v := range x {
		dst[i] = To(v)
	}
}
