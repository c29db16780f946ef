package validate

// TooFew reports whether fewer than two of the classes have two labels. A label
// that is hidden then leaves no other of its class, or is of the only class
// that has any.
func TooFew(class []int) bool {
	several := 0
	for _, nodes := range MembersOf(class) {
		if len(nodes) > 1 {
			several++
		}
	}
	return several < 2
}
