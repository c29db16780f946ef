// Command gen writes the assembly twins of the loops in package simd, for amd64. It is a module of its own, so that the
// library does not depend on its generator. Run it with go generate in the folder of the package.
package main

import "github.com/mmcloughlin/avo/build"

func main() {
	build.ConstraintExpr("amd64,!noasm")
	zeroRow := zeros()
	for _, t := range []element{float32s, float64s} {
		gathers(t, zeroRow)
		addRows(t)
		scaleTo(t)
		widen(t)
		columns(t)
		vectors(t)
	}
	workingSet()
	panels()
	checksum()
	hashes()
	distances()
	cells()
	entries()
	numbers()
	pack()
	decodeAVX2()
	decodeAVX512()
	build.Generate()
}
