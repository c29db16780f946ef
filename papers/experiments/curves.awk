# Draws lines through points as SVG. Each line of the input is a series, x, y and perhaps the
# standard error of y, separated by tabs; the points of a series come in order of x.
#
#   awk -v title=T -v xlabel=X [-v logx=1] [-v logy=1] -f curves.awk points.tsv >figure.svg

BEGIN {
	FS = "\t"
	width = 720; left = 56; right = 550; top = 34; bottom = 310
	split("#3b6fd4 #d1603d #3a9a5b #9657c2 #b8912a #5f6b7a #c2508f #2a9aa8", colour, " ")
}

# place returns x or y on its scale.
function place(v, logarithmic) { return logarithmic ? log(v) / log(10) : v }
function acrossX(v) { return left + 12 + (place(v, logx) - x0) / (x1 - x0) * (right - left - 24) }
function upY(v) { return bottom - (place(v, logy) - y0) / (y1 - y0) * (bottom - top) }

{
	if (!($1 in length_)) { names[++series] = $1 }
	i = ++length_[$1]
	x[$1, i] = $2; y[$1, i] = $3; e[$1, i] = $4 + 0
	px = place($2, logx); low = place(logy ? $3 : $3 - $4, logy); high = place(logy ? $3 : $3 + $4, logy)
	if (NR == 1) { x0 = x1 = px; y0 = low; y1 = high }
	if (px < x0) x0 = px
	if (px > x1) x1 = px
	if (low < y0) y0 = low
	if (high > y1) y1 = high
	if (!($2 in seen)) { seen[$2] = 1; xs[++nx] = $2 }
}

END {
	if (x1 == x0) x1 = x0 + 1
	# Ticks at powers of ten, or at multiples of 1, 2 or 5 times one.
	step = 1
	if (!logy) {
		step = 10 ^ int(log((y1 - y0) / 5 + 1e-9) / log(10) - ((y1 - y0) < 5))
		while ((y1 - y0) / step > 8) step *= ((y1 - y0) / step > 16) ? 5 : 2
	}
	y0 = step * (int(y0 / step) - (y0 < 0 || y0 == step * int(y0 / step)))
	y1 = step * (int(y1 / step) + 1)
	printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d 356\" font-family=\"system-ui, sans-serif\" font-size=\"12\" fill=\"#222\">\n", width
	print "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>"
	printf "<text x=\"%d\" y=\"18\">%s</text>\n", left, title
	for (t = y0; t <= y1 + step / 2; t += step) {
		py = bottom - (t - y0) / (y1 - y0) * (bottom - top)
		printf "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#8886\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n", left, right, py, py, left - 6, py + 4, logy ? 10 ^ t : t
	}
	for (i = 1; i <= nx; i++)
		printf "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", acrossX(xs[i]), bottom + 18, xs[i]
	printf "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", (left + right) / 2, bottom + 38, xlabel
	for (s = 1; s <= series; s++) {
		n = names[s]; c = colour[(s - 1) % 8 + 1]
		printf "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"", c
		for (i = 1; i <= length_[n]; i++) printf "%.1f,%.1f ", acrossX(x[n, i]), upY(y[n, i])
		print "\"/>"
		for (i = 1; i <= length_[n]; i++) {
			cx = acrossX(x[n, i])
			if (e[n, i] > 0)
				printf "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>", cx, cx, upY(y[n, i] - e[n, i]), upY(y[n, i] + e[n, i]), c
			printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", cx, upY(y[n, i]), c
		}
		printf "<rect x=\"%d\" y=\"%d\" width=\"10\" height=\"10\" fill=\"%s\"/><text x=\"%d\" y=\"%d\">%s</text>\n", right + 16, top + 20 * (s - 1), c, right + 32, top + 9 + 20 * (s - 1), n
	}
	print "</svg>"
}
