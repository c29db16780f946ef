// Command heatwalk labels the rest of a graph.
package main

import (
	"os"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/cli"
	_ "github.com/heatwalk/heatwalk/papers"
	_ "github.com/heatwalk/heatwalk/papers/ongram"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
