// Package docs holds the pages of this folder, whose titles the command searches.
package docs

import "embed"

// Pages has all pages but commands.md, which repeats the help of the commands.
//
//go:embed [^c]*.md
var Pages embed.FS
