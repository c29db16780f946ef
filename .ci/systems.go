//go:build ignore

// Type-checks all packages and tests for other systems: go run .ci/systems.go GOOS/GOARCH …
// It reads everything they import from source, which is a tenth of the work of go vet,
// for whom the compiler makes all of that for each system.
package main

import (
	"log"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	for _, system := range os.Args[1:] {
		goos, goarch, _ := strings.Cut(system, "/")
		all, err := packages.Load(&packages.Config{
			Mode: packages.LoadAllSyntax, Tests: true,
			Env: append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0"),
		}, "./...")
		if err != nil {
			log.Fatal(err)
		}
		if packages.PrintErrors(all) > 0 {
			log.Fatalf("for %s", system)
		}
	}
}
