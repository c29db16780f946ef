# Draws values over two parameters as a table of shades, SVG. Each line of the input is y, x and
# the value, separated by tabs.
#
#   awk -v title=T -v xlabel=X -v ylabel=Y -f heatmap.awk points.tsv >figure.svg

BEGIN { FS = "\t"; cellX = 46; cellY = 22; left = 56; top = 34 }

{
	if (!($1 in row)) { row[$1] = ++rows; y[rows] = $1 }
	if (!($2 in column)) { column[$2] = ++columns; x[columns] = $2 }
	value[row[$1], column[$2]] = $3
	if (NR == 1 || $3 < least) least = $3
	if (NR == 1 || $3 > most) most = $3
}

END {
	printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"system-ui, sans-serif\" font-size=\"12\" fill=\"#222\" text-anchor=\"middle\">\n", left + cellX * columns + 16, top + cellY * rows + 50
	print "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>"
	printf "<text x=\"%d\" y=\"18\" text-anchor=\"start\">%s</text>\n", left, title
	for (i = 1; i <= rows; i++) {
		py = top + cellY * (rows - i)
		printf "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", left - 6, py + 15, y[i]
		for (j = 1; j <= columns; j++) {
			shade = most > least ? (value[i, j] - least) / (most - least) : 1
			printf "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"hsl(215,60%%,%.0f%%)\"/>", left + cellX * (j - 1), py, cellX, cellY, 96 - 56 * shade
			printf "<text x=\"%d\" y=\"%d\" fill=\"%s\">%.1f</text>\n", left + cellX * (j - 0.5), py + 15, (shade > 0.6 ? "#fff" : "#222"), value[i, j]
		}
	}
	for (j = 1; j <= columns; j++) printf "<text x=\"%d\" y=\"%d\">%s</text>\n", left + cellX * (j - 0.5), top + cellY * rows + 16, x[j]
	printf "<text x=\"%d\" y=\"%d\">%s</text>\n", left + cellX * columns / 2, top + cellY * rows + 38, xlabel
	printf "<text x=\"16\" y=\"%d\">%s</text>\n</svg>\n", top + cellY * rows / 2, ylabel
}
