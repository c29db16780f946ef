// Package ledger adds up what a prediction takes before it is made: bytes that are kept,
// bytes of phases, which are given back, sweeps, and the widest block that is swept.
package ledger
