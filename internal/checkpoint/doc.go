// Package checkpoint keeps in a file what a run has computed so far, from which a run that
// was killed goes on.
//
// A [File] holds the whole state of a run and is replaced whole or not at all. A [Log] has
// named parts appended to it; one that a kill has torn counts for nothing. Both begin with
// the [Run] that they are of: a file of another one is refused, and a damaged one, with an
// [*Error]. A [State] writes the numbers of a state, or reads them.
//
//	f, err := checkpoint.NewFile("E.npy", bytes, checkpoint.Warmup, resume, run)
//	err = f.Load(read)   // at the start of a run that is resumed
//	err = f.Save(write)  // wherever the state is whole; it writes when it is time to
//	err = f.Remove()     // at the end
//
//	l, err := checkpoint.Open("K.npy", bytes, checkpoint.Warmup, resume, run)
//	r := l.Recall("columns 0-64")  // nil: it was not kept
//	kept := l.Keep("columns 0-64", bytes, write)
//	err = l.Remove()               // at the end
//
// # Bytes
//
// A file is the line "heatwalk checkpoint 1" and records, the first of them the run as JSON,
// those of a log behind it the length of a name in two bytes, the name, and what was kept. A
// record is frames: four bytes with the number n of bytes in it, four bytes with the CRC-32C
// of all lengths and bytes of the record so far, and n bytes; the frame without bytes ends it.
// Numbers have the lowest byte first.
package checkpoint
