// Package docs holds the pages of this folder, which the command searches.
package docs

import "embed"

// Pages has all pages.
//
//go:embed *.md
var Pages embed.FS
