// Package checkpoint writes the partial result of a run to a file, from which a killed run can
// continue. The file is replaced atomically. It begins with a checksum and the [Run] that wrote it, so that
// the file of another run, like a damaged file, is rejected with an [*Error].
package checkpoint
