package spec

// Bytes is something large that an algorithm holds. An algorithm lists what it holds
// in one function, called Memory, and allocates by that list.
type Bytes struct {
	What  string `json:"what"`
	Bytes int64  `json:"bytes"`

	// Optional says that the algorithm does without where there is no room.
	Optional bool `json:"optional,omitempty"`
}

// Sum returns the bytes of a list.
func Sum(list []Bytes) (bytes int64) {
	for _, b := range list {
		bytes += b.Bytes
	}
	return bytes
}

// Least returns the bytes of a list without what is optional.
func Least(list []Bytes) (bytes int64) {
	for _, b := range list {
		if !b.Optional {
			bytes += b.Bytes
		}
	}
	return bytes
}
