(() => {
"use strict"
const data = JSON.parse(document.getElementById("graph-data").textContent)
const { nodes, list } = data
const walk = document.getElementById("walk"), search = document.getElementById("search")
const most = 150, mostOfOne = 6, mostFound = 20, mostOfGroup = 200, crowded = 24
const isLabel = new Set(list.k)
const entries = new Map(list.ids.map((id, i) => [id, { id, c: list.c[i], k: isLabel.has(i), p: list.c[i] < 0 ? [] : [[list.c[i], list.p[i]]] }]))
nodes.forEach((n, at) => { n.at = at; entries.set(n.id, n) })
const isComplete = list.ids.length === data.count
const color = (c) => c < 0 || data.colors[c] < 0 ? "grey" : "s" + data.colors[c]
const name = (c) => c < 0 ? "no class" : data.classes[c]
const count = (n) => n.toLocaleString("en")
const certainty = (n) => n.k ? 1 : n.p.length ? n.p[0][1] : 0
const words = (n) => n.k ? name(n.c) + " (label)" : n.c < 0 ? name(n.c) : name(n.c) + ", " + certainty(n).toFixed(3)

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
	for (const u of nodes[at].near) if (!found.has(u)) found.set(u, { step: 1, before: at })
	for (const v of nodes[at].near) {
		let further = 0
		for (const u of nodes[v].near) {
			if (found.size >= most || further >= mostOfOne) break
			if (found.has(u)) continue
			found.set(u, { step: 2, before: v })
			further++
		}
	}
	return found
}

// place gives the nodes positions on two rings; those of the outer one are behind the node before them. It returns the position
// of the disc of all other neighbours.
function place(at, found) {
	const rings = [[], [], []]
	for (const [v, f] of found) rings[f.step].push(v)
	const behind = (v) => rings[2].filter((u) => found.get(u).before === v)
	rings[1].sort((a, b) => nodes[a].c - nodes[b].c || a - b)
	const own = rings[1].length > crowded ? 3 : 1 // of the angle of a node, beside 1 for each node behind it
	const sum = rings[1].reduce((sum, v) => sum + own + behind(v).length, 0)
	const rest = nodes[at].others.length ? own + sum / 12 : 0
	const total = sum + rest
	let angle = -Math.PI / 2
	for (const v of rings[1]) {
		const further = behind(v), part = 2 * Math.PI * (own + further.length) / total
		found.get(v).angle = angle + part / 2
		further.forEach((u, i) => { found.get(u).angle = angle + part * (i + 1) / (further.length + 1) })
		angle += part
	}
	const put = (f, r) => { f.x = 310 + r * Math.cos(f.angle || 0) * 1.1; f.y = 280 + r * Math.sin(f.angle || 0); return f }
	for (const f of found.values()) put(f, [0, 140, 250][f.step])
	return put({ angle: angle + Math.PI * rest / total }, 140)
}

function draw(parent, at) {
	const found = around(at), rest = place(at, found), n = nodes[at]
	const svg = add(parent, "svg", { viewBox: "0 0 620 560", role: "group", "aria-label": "Neighbours of " + n.id })
	const pairs = new Set()
	for (const v of found.keys()) for (const u of nodes[v].near) if (found.has(u)) pairs.add(u < v ? u + " " + v : v + " " + u)
	let lines = ""
	const line = (f, g) => { lines += `M${f.x.toFixed(1)} ${f.y.toFixed(1)}L${g.x.toFixed(1)} ${g.y.toFixed(1)}` }
	for (const pair of pairs) line(...pair.split(" ").map((v) => found.get(Number(v))))
	if (n.others.length) line(found.get(at), rest)
	add(svg, "path", { d: lines })
	const discs = []
	for (const [v, f] of found) {
		const u = nodes[v]
		const c = add(svg, "circle", { cx: f.x, cy: f.y, r: [14, n.near.length > crowded ? 6 : 8, 5][f.step], "fill-opacity": 0.25 + 0.75 * certainty(u), class: color(u.c) + (u.k ? " known" : "") })
		add(c, "title", {}, u.id + ": " + words(u))
		if (v < data.centers && v !== at) { open(c, u.id + ": " + words(u), () => show(u)); discs.push(c) }
	}
	rove(discs)
	const short = (id) => id.length > 14 ? id.slice(0, 5) + "…" + id.slice(-8) : id
	const names = []
	for (const v of n.near.length > crowded ? [at] : [at, ...n.near]) {
		const f = found.get(v), text = short(nodes[v].id), y = f.y - [18, 12, 8][f.step], half = 4 * text.length
		if (names.some((o) => Math.abs(o.x - f.x) < o.half + half && Math.abs(o.y - y) < 13)) continue // it would hide another name
		names.push({ x: f.x, y, half })
		add(svg, "text", { x: f.x, y }, text)
	}
	if (n.others.length) {
		const sum = n.others.reduce((sum, o) => sum + o[1], 0)
		const c = add(svg, "circle", { cx: rest.x, cy: rest.y, r: 20, class: color(n.others[0][0]), "fill-opacity": 0.5 })
		add(c, "title", {}, n.others.map((o) => name(o[0]) + " " + count(o[1])).join(", "))
		add(svg, "text", { x: rest.x, y: rest.y + 5 }, "+" + count(sum))
	}
}

// open lets an element of a drawing do something.
function open(element, label, act) {
	element.classList.add("open")
	element.setAttribute("role", "button")
	element.setAttribute("aria-label", label)
	element.addEventListener("click", act)
	element.addEventListener("keydown", (e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); act() } })
}

// rove makes elements one stop of the tab key; arrow keys move between them.
function rove(elements) {
	elements.forEach((e, i) => {
		e.tabIndex = i ? -1 : 0
		e.addEventListener("keydown", (event) => {
			const next = elements[i + ({ ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key] || NaN)]
			if (!next) return
			event.preventDefault()
			e.tabIndex = -1
			next.tabIndex = 0
			next.focus()
		})
	})
}

function digits(x) {
	return x.toPrecision(3).replace("-", "−")
}

function reasons(parent, title, lines) {
	if (!lines || !lines.length) return
	add(parent, "h3", {}, title)
	const ol = add(parent, "ol", {})
	for (const [text, share] of lines) { const li = add(ol, "li", {}); add(li, "bdi", {}, text); add(li, "span", {}, " · " + digits(Number(share))) }
}

function describe(parent, n) {
	const panel = add(parent, "div", { id: "node" })
	add(add(panel, "h3", { tabindex: -1 }), "bdi", {}, n.id)
	add(panel, "p", {}, n.k ? "label: " + name(n.c) : "predicted: " + name(n.c))
	for (const [c, p] of n.p) {
		const bar = add(panel, "div", { class: "bar" })
		add(bar, "span", {}, name(c))
		add(bar, "i", { class: color(c), style: "width:" + 100 * p + "%" })
		add(bar, "span", {}, p.toFixed(3))
	}
	if (!(n.at < data.centers)) add(panel, "p", { class: "hint" }, "Its neighbours are not on this page; --report-nodes adds those of a list of nodes.")
	else if (n.others.length) add(panel, "p", { class: "hint" }, count(n.near.length) + " of its neighbours are drawn, those of the reasons and of the largest weights; the disc in the ring is the others: " + n.others.map((o) => name(o[0]) + " " + count(o[1])).join(", ") + ".")
	const r = data.reasons[n.at]
	if (!r && Object.keys(data.reasons).length) add(panel, "p", { class: "hint" }, "Its reasons: heatwalk explain GRAPH " + n.id + ", with the flags of this run.")
	if (!r) return
	if (r.sizes > 10 * Math.max(1, Math.abs(r.score))) add(panel, "p", { class: "hint" }, `Shares of opposite signs cancel: their absolute values add up to ${digits(r.sizes)}, the score is ${digits(r.score)}. Compare shares with each other, not with the score.`)
	const total = (list) => (list || []).reduce((sum, x) => sum + x.share, 0)
	const parts = [[total(r.labels), "labels shown"], [r.other_share, count(r.other_labels) + " other labels"]]
	if (r.attributes) parts.push([total(r.attributes), "attributes shown"], [r.other_attributes_share, "other attributes"])
	parts.push([r.rest, "rest"])
	const sum = parts.filter(([x]) => x).map(([x, what], i) => `${i || x < 0 ? (x < 0 ? "− " : "+ ") : ""}${digits(Math.abs(x))} (${what})`)
	add(panel, "p", {}, `${r.label}${r.rival ? " over " + r.rival : ""}: score ${digits(r.score)} = ` + (sum.join(" ") || "0"))
	reasons(panel, "Labelled nodes, with their shares of the score", r.labels.map((l) => [l.node + " (" + l.label + ")", l.share]))
	reasons(panel, "Attributes of the node, and their means over near nodes", (r.attributes || []).map((a) => [a.name || "column " + (a.column + 1), a.share]))
	const edges = (k) => [k.kind, "weight " + Number(k.weight.toPrecision(6)), [...new Set([k.first, k.last])].filter(Boolean).join(" to ")].filter(Boolean).join(", ")
	reasons(panel, "Links", r.links.map((l) => [l.from + " – " + l.to + (l.kinds ? " (" + l.kinds.map(edges).join("; ") + ")" : ""), l.importance]))
}

function show(n, stays) {
	walk.replaceChildren()
	if (n.at < data.centers) draw(walk, n.at)
	describe(walk, n)
	if (stays) return
	walk.scrollIntoView({ block: "nearest" })
	walk.querySelector("h3").focus({ preventScroll: true })
}

// choices appends a button for each node.
function choices(parent, list) {
	const ul = add(parent, "ul", { class: "choices" }), buttons = []
	for (const n of list) {
		const b = add(add(ul, "li", {}), "button", { type: "button" })
		add(b, "i", { class: "swatch " + color(n.c) })
		add(b, "bdi", {}, n.id)
		add(b, "span", {}, " " + words(n))
		b.addEventListener("click", () => show(n))
		buttons.push(b)
	}
	rove(buttons)
}

function showGroup(number, size, title) {
	walk.replaceChildren()
	const panel = add(walk, "div", { id: "node", class: "group" })
	add(panel, "h3", { tabindex: -1 }, title)
	const members = []
	list.g.forEach((g, i) => { if (g === number) members.push(entries.get(list.ids[i])) })
	members.sort((a, b) => a.k - b.k || certainty(a) - certainty(b))
	const shown = Math.min(members.length, mostOfGroup)
	if (shown < size) add(panel, "p", { class: "hint" }, `The ${count(shown)} least certain ones; ${data.file} has all.`)
	choices(panel, members.slice(0, shown))
	walk.scrollIntoView({ block: "nearest" })
	panel.firstChild.focus({ preventScroll: true })
}

// find returns nodes by a part of their name: the node of this name, names that begin with it, others.
function find(text) {
	const part = text.toLowerCase(), exact = entries.get(text), begins = [], others = []
	if (part) for (const [id, n] of entries) {
		if (n === exact) continue
		const at = id.toLowerCase().indexOf(part)
		if (at === 0) begins.push(n)
		else if (at > 0 && others.length < mostFound) others.push(n)
		if (begins.length >= mostFound) break
	}
	return [...(exact ? [exact] : []), ...begins, ...others].slice(0, mostFound)
}

search.hidden = false
add(search, "label", { for: "find" }, "Find a node ")
const input = add(search, "input", { id: "find", autocomplete: "off", type: "search" })
add(search, "button", {}, "Show")
const answer = add(search, "span", { role: "status" })
const found = add(search, "div", { id: "found" })
const missing = isComplete ? " no node has this in its name" : ` not on this page; ${data.file} has the predictions of all nodes, and --report-nodes adds a list of nodes`
function look() {
	found.replaceChildren()
	const text = input.value.trim(), nodes = find(text)
	answer.textContent = text && !nodes.length ? missing : ""
	if (nodes.length) choices(found, nodes)
	return nodes
}
input.addEventListener("input", look)
input.addEventListener("keydown", (e) => { if (e.key === "ArrowDown") found.querySelector("button")?.focus() })
search.addEventListener("submit", (e) => {
	e.preventDefault()
	const [n] = look()
	found.replaceChildren()
	if (n) show(n)
})
const discs = [...document.querySelectorAll(".map [data-row], .map [data-group]")]
for (const c of discs) {
	const title = c.firstChild.textContent
	if (c.dataset.row) open(c, title, () => show(nodes[c.dataset.row])) // all nodes are there, in order
	else open(c, title, () => showGroup(Number(c.dataset.group), Number(c.dataset.nodes), title))
}
rove(discs.sort((a, b) => a.cx.baseVal.value - b.cx.baseVal.value))
document.addEventListener("DOMContentLoaded", () => { // tables follow this script
	for (const table of document.querySelectorAll("table")) {
		if (table.querySelector("th").textContent !== "node") continue
		const buttons = []
		for (const cell of table.querySelectorAll("th[scope=row]")) {
			const n = entries.get(cell.textContent)
			if (!n) continue
			const b = document.createElement("button")
			b.className = "node"
			b.append(...cell.childNodes)
			cell.append(b)
			b.addEventListener("click", () => show(n))
			buttons.push(b)
		}
		rove(buttons)
	}
})
if (nodes.length) show(nodes[data.first], true)
})()
