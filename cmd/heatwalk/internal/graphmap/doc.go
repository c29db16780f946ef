// Package graphmap draws a labelled graph for a page: a map of all nodes or of groups of them, and the
// neighbourhoods of some nodes to walk through.
//
// The map has all nodes of a graph of at most 2,000 nodes. On larger graphs it has groups: nodes of one predicted
// class in one of 48 regions. A region grows from a node drawn by a hash of its row: in each round the nodes
// next to regions join the one with the largest weight of links to them. Regions, groups and positions are the same for
// any number of goroutines. Positions are those of a force-directed layout (Fruchterman and Reingold 1991) that begins with two
// vectors of slow variation over the links.
//
// The map is SVG, which is read without a script. A script on the page draws the neighbourhood of a node. All texts
// of the graph are escaped or passed as JSON, so that none of them is executed.
package graphmap
