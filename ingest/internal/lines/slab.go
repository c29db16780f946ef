package lines

import "github.com/heatwalk/heatwalk/internal/system"

// Slab hands out consecutive slices of pieces of memory. Pieces double in size, up to a limit, so that a
// short input takes little memory. The garbage collector frees a piece when none of its slices is in use. A
// slab is not safe for concurrent use.
type Slab[T uint32 | float64] struct {
	Size int // elements of the largest piece
	next int // elements of the next piece
	free []T
}

// Room returns an empty slice with capacity n, which is valid until the next call of Room or Keep.
func (s *Slab[T]) Room(n int) []T {
	if len(s.free) < n {
		s.next = min(max(n, 2*s.next), s.Size)
		s.free = system.Make[T](max(n, s.next))
	}
	return s.free[:0:n]
}

// Keep returns data in memory that stays valid. It copies data unless data comes from the last call of Room.
func (s *Slab[T]) Keep(data []T) []T {
	if len(data) == 0 {
		return nil
	}
	if len(s.free) < len(data) || &s.free[0] != &data[0] {
		data = append(s.Room(len(data)), data...)
	}
	s.free = s.free[len(data):]
	return data[:len(data):len(data)]
}
