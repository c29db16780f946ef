// Package ongram registers kinds of items with package items: the records of a table, with kernels of package closed, the
// graphs of a collection, with kernels of package graphs, and items whose kernel values are in files. They are
// the commands records, graphs and gram of a program that imports this package:
//
//	import _ "github.com/heatwalk/heatwalk/papers/ongram"
package ongram

import (
	"embed"
	"io/fs"

	"github.com/heatwalk/heatwalk/method/items"
)

//go:embed help
var helpFolder embed.FS

// helpTexts has the descriptions of the commands.
var helpTexts, _ = fs.Sub(helpFolder, "help") // the folder is there

func init() {
	items.Register(&collections)
	items.Register(&records)
	items.Register(&kernelFiles)
}
