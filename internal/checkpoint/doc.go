// Package checkpoint keeps in a file what a run has computed so far, from which a run that
// was killed goes on. The file is replaced whole or not at all. It begins with the [Run] that
// wrote it: the file of another run, or a damaged one, is refused with an [*Error].
package checkpoint
