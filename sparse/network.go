package sparse

// Network connects the processes that share the rows of a matrix, on one machine or on several. All processes must call
// the same methods in the same order, one call at a time. A method that cannot reach another process ends this process
// with a message, because no result is possible without the other process.
type Network interface {
	// Rank returns the number of this process, 0 ≤ Rank < Size.
	Rank() int

	// Size returns the number of processes.
	Size() int

	// AllGather stores the values v of all processes in dst, in the order of the processes. v must have the same length
	// in all processes, and dst Size times this length.
	AllGather(dst, v []float64)

	// Broadcast copies data from the process root to data of all other processes.
	Broadcast(root int, data []byte)

	// NewExchange plans transfers of rows. This process offers the rows 0 ≤ i < offered and requests rows that
	// processes offer, which may include its own.
	NewExchange(offered int, requested []RemoteRow) Exchange
}

// RemoteRow is a row that a process offers.
type RemoteRow struct{ Rank, Row int32 }

// Exchange transfers rows between processes, as often as needed.
type Exchange interface {
	// Begin starts a transfer of rows of size bytes. The offered rows must be consecutive in offered, and the requested
	// rows arrive consecutively in received. Until End returns, offered must not be changed, and received must not be
	// used.
	Begin(offered, received []byte, size int)

	// End waits for the transfer.
	End()

	// Close releases the plan. Every process must call it.
	Close()
}
