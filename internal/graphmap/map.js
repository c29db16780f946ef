(() => {
"use strict"
const data = JSON.parse(document.getElementById("graph-data").textContent)
const walk = document.getElementById("walk"), most = 150
const near = data.nodes.map(() => [])
for (const [a, b] of data.edges) { near[a].push(b); near[b].push(a) }
const center = new Map(data.centers.map((at) => [data.nodes[at].id, at]))
const isCenter = new Set(data.centers)
const color = (c) => c < 0 || data.colors[c] < 0 ? "grey" : "s" + data.colors[c]
const name = (c) => c < 0 ? "no class" : data.classes[c]

// add appends an element; its text is never read as markup.
function add(parent, tag, attributes, text) {
	const isDrawing = parent instanceof SVGElement || tag === "svg"
	const e = isDrawing ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag)
	for (const key in attributes) e.setAttribute(key, attributes[key])
	if (text !== undefined) e.textContent = text
	return parent.appendChild(e)
}

// around returns the nodes within two steps, with the step and the node before each.
function around(at) {
	const found = new Map([[at, { step: 0 }]])
	let front = [at]
	for (let step = 1; step <= 2; step++) {
		const next = []
		for (const v of front) for (const u of near[v]) {
			if (found.size >= most || found.has(u)) continue
			found.set(u, { step, before: v })
			next.push(u)
		}
		front = next
	}
	return found
}

// place gives the nodes positions on two rings; those of the outer one are behind the node before them.
function place(found) {
	const rings = [[], [], []]
	for (const [v, f] of found) rings[f.step].push(v)
	const behind = (v) => rings[2].filter((u) => found.get(u).before === v)
	rings[1].sort((a, b) => data.nodes[a].c - data.nodes[b].c || a - b)
	const total = rings[1].reduce((sum, v) => sum + 1 + behind(v).length, 0)
	let angle = -Math.PI / 2
	for (const v of rings[1]) {
		const list = behind(v), part = 2 * Math.PI * (1 + list.length) / total
		found.get(v).angle = angle + part / 2
		list.forEach((u, i) => { found.get(u).angle = angle + part * (i + 1) / (list.length + 1) })
		angle += part
	}
	for (const f of found.values()) {
		f.x = 310 + [0, 140, 250][f.step] * Math.cos(f.angle || 0) * 1.1
		f.y = 280 + [0, 140, 250][f.step] * Math.sin(f.angle || 0)
	}
	return rings
}

function draw(parent, at) {
	const found = around(at), rings = place(found)
	const svg = add(parent, "svg", { viewBox: "0 0 620 560", role: "img", "aria-label": "Neighbours of " + data.nodes[at].id })
	let lines = ""
	for (const [v, f] of found) for (const u of near[v]) {
		const g = found.get(u)
		if (u > v && g) lines += `M${f.x.toFixed(1)} ${f.y.toFixed(1)}L${g.x.toFixed(1)} ${g.y.toFixed(1)}`
	}
	add(svg, "path", { d: lines })
	for (const [v, f] of found) {
		const n = data.nodes[v], certain = n.k ? 1 : n.p.length ? n.p[0][1] : 0
		const c = add(svg, "circle", { cx: f.x, cy: f.y, r: [14, 8, 5][f.step], "fill-opacity": 0.25 + 0.75 * certain, class: color(n.c) + (n.k ? " known" : "") })
		add(c, "title", {}, n.id + ": " + name(n.c) + (n.k ? " (label)" : ", " + certain))
		if (isCenter.has(v) && v !== at) open(c, v)
	}
	const short = (id) => id.length > 14 ? id.slice(0, 13) + "…" : id
	for (const v of rings[1].length > 24 ? [at] : [at, ...rings[1]]) {
		const f = found.get(v)
		add(svg, "text", { x: f.x, y: f.y - [18, 12][f.step] }, short(data.nodes[v].id))
	}
}

// open lets an element show a node.
function open(element, at) {
	element.classList.add("open")
	element.setAttribute("tabindex", "0")
	element.setAttribute("role", "button")
	element.addEventListener("click", () => show(at, true))
	element.addEventListener("keydown", (e) => { if (e.key === "Enter") show(at, true) })
}

function list(parent, title, lines) {
	if (!lines || !lines.length) return
	add(parent, "h3", {}, title)
	const ol = add(parent, "ol", {})
	for (const [text, share] of lines) { const li = add(ol, "li", {}); add(li, "bdi", {}, text); add(li, "span", {}, " · " + Number(share).toPrecision(3)) }
}

function describe(parent, at) {
	const n = data.nodes[at], panel = add(parent, "div", { id: "node" })
	add(add(panel, "h3", {}), "bdi", {}, n.id)
	add(panel, "p", {}, n.k ? "label: " + name(n.c) : "predicted: " + name(n.c))
	for (const [c, p] of n.p) {
		const bar = add(panel, "div", { class: "bar" })
		add(bar, "span", { title: name(c) }, name(c))
		add(bar, "i", { class: color(c), style: "width:" + 100 * p + "%" })
		add(bar, "span", {}, p.toFixed(3))
	}
	const r = data.reasons[at]
	if (!r) return
	list(panel, "Labelled nodes, with their shares of the score", r.labels.map((l) => [l.node + " (" + l.label + ")", l.share]))
	list(panel, "Attributes", (r.attributes || []).map((a) => [a.name || "column " + (a.column + 1), a.share]))
	const edges = (k) => [k.kind, "weight " + Number(k.weight.toPrecision(6)), [...new Set([k.first, k.last])].filter(Boolean).join(" to ")].filter(Boolean).join(", ")
	list(panel, "Links", r.links.map((l) => [l.from + " – " + l.to + (l.kinds ? " (" + l.kinds.map(edges).join("; ") + ")" : ""), l.importance]))
}

function show(at, moves) {
	for (const e of walk.querySelectorAll("svg, #node")) e.remove()
	draw(walk, at)
	describe(walk, at)
	if (moves) walk.scrollIntoView({ block: "nearest" })
}

const form = add(walk, "form", {})
add(form, "label", { for: "find" }, "Node ")
const input = add(form, "input", { id: "find", list: "ids", autocomplete: "off" })
const ids = add(form, "datalist", { id: "ids" })
for (const at of data.centers.slice(0, 2000)) add(ids, "option", { value: data.nodes[at].id })
add(form, "button", {}, "Show")
const answer = add(form, "span", { role: "status" })
form.addEventListener("submit", (e) => {
	e.preventDefault()
	const at = center.get(input.value.trim())
	answer.textContent = at === undefined ? " not on this page" : ""
	if (at !== undefined) show(at, false)
})
for (const c of document.querySelectorAll(".map [data-row]")) open(c, Number(c.dataset.row)) // all nodes are there, in order
for (const cell of document.querySelectorAll("th[scope=row]")) {
	const at = center.get(cell.textContent)
	if (at !== undefined) open(cell, at)
}
const explained = data.centers.filter((at) => data.reasons[at])
const first = explained.length ? explained : data.centers
if (first.length) show(first.reduce((a, b) => near[b].length > near[a].length ? b : a), false)
})()
