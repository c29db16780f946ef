package blocks

import "sync"

// Lazy is a positive number that is computed at the first use. It is safe for concurrent use.
type Lazy struct {
	lock  sync.Mutex
	value float64 // 0: not computed yet
}

// Get returns the number. The first call stores the result of compute. If compute fails, Get returns its error and
// stores nothing. A nil Lazy never stores the number.
func (l *Lazy) Get(compute func() (float64, error)) (float64, error) {
	if l == nil {
		return compute()
	}
	l.lock.Lock()
	defer l.lock.Unlock()
	if l.value == 0 {
		value, err := compute()
		if err != nil {
			return 0, err
		}
		l.value = value
	}
	return l.value, nil
}
