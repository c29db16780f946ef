package graphfile

import (
	"cmp"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/words"
)

// edgeBuffer holds edges until the file ends, because nodes, names of attributes and the direction may follow the
// edges. An edge takes 9 bytes, and 16 for each value that may be its weight.
type edgeBuffer struct {
	out        *batchWriter
	nodes      *nodeNames
	ends       []uint32 // source and target of each edge
	hasArrow   []bool
	attributes []*edgeAttribute
	byKey      map[string]*edgeAttribute
	bytes      int64

	coded    []codedEdge          // first edge of each kind and time
	codeAt   map[[2]string]uint32 // index in coded
	codes    []uint32             // indices in coded; empty without Input.Kind and Input.Time
	kindTime [2]string
}

type codedEdge struct {
	kindTime [2]string
	line     int64
}

type edgeValue struct {
	edge   int
	weight float64
}

// edgeAttribute is an attribute of edges that may be the weight.
type edgeAttribute struct {
	key       string // GraphML's id of the attribute; elsewhere the name
	name      string // "" until declared
	text      bool
	initial   string      // default value
	seen      bool        // some edge has a value
	isNumber  bool        // some value is a weight
	isSigned  bool        // some value is a negative weight
	values    []edgeValue // values by edge; empty unless the attribute may be the weight
	bad       error       // error about the first value that is no weight
	rounded   int64
	roundedAt string
}

func (h *edgeBuffer) attribute(key string) *edgeAttribute {
	a := h.byKey[key]
	if a == nil {
		const attribute = 250 // bytes of map and struct
		h.bytes += attribute + int64(len(key))
		a = &edgeAttribute{key: key}
		h.byKey[key] = a
		h.attributes = append(h.attributes, a)
	}
	return a
}

func newEdgeBuffer(w *batchWriter, nodes *nodeNames) *edgeBuffer {
	return &edgeBuffer{out: w, nodes: nodes, byKey: map[string]*edgeAttribute{},
		codeAt: map[[2]string]uint32{}}
}

// add adds an edge. The values of the edge must have been set before.
func (h *edgeBuffer) add(line int64, source, target string, hasArrow bool) error {
	if source == "" || target == "" {
		return h.out.fault(line, "give it both", "an edge without source or target")
	}
	h.ends = append(h.ends, h.nodes.number(source, line),
		h.nodes.number(target, line))
	h.hasArrow = append(h.hasArrow, hasArrow)
	if err := h.addCode(line); err != nil {
		return err
	}
	return h.out.hold(h.nodes.bytes + h.bytes + 4*int64(cap(h.ends)+cap(h.codes)) +
		int64(cap(h.hasArrow)))
}

func (h *edgeBuffer) addCode(line int64) error {
	if h.out.Kind == "" && h.out.Time == "" {
		return nil
	}
	place, exists := h.codeAt[h.kindTime]
	if !exists {
		const edge = 150 // bytes of map, headers and slices
		h.bytes += edge + int64(len(h.kindTime[0])+len(h.kindTime[1]))
		place = uint32(len(h.coded))
		h.codeAt[h.kindTime] = place
		h.coded = append(h.coded, codedEdge{h.kindTime, line})
	}
	h.codes = append(h.codes, place)
	h.kindTime = [2]string{}
	return nil
}

func (h *edgeBuffer) withoutAttribute(line int64, option, name string) error {
	return h.out.fault(line, "choose another attribute with {"+option+"}",
		"an edge without the attribute %s", words.Quoted(name))
}

func (h *edgeBuffer) finishCodes() error {
	for _, a := range h.attributes {
		if i := h.codeOf(a); i >= 0 && a.initial != "" {
			for j := range h.coded {
				h.coded[j].kindTime[i] = cmp.Or(h.coded[j].kindTime[i], a.initial)
			}
		}
	}
	hasKind := func(e codedEdge) bool { return e.kindTime[0] != "" }
	if h.out.Kind != "" && h.coded != nil && !slices.ContainsFunc(h.coded, hasKind) {
		return h.withoutAttribute(h.coded[0].line, input.Kind, h.out.Kind)
	}
	times := make([]string, len(h.coded))
	for i, e := range h.coded {
		times[i] = e.kindTime[1]
	}
	form := h.out.TimeForm.Among(times)
	codes := make([]uint32, len(h.coded))
	for i, e := range h.coded {
		if h.out.Time != "" && e.kindTime[1] == "" {
			return h.withoutAttribute(e.line, input.Time, h.out.Time)
		}
		var wrong string
		codes[i], wrong = h.out.Code(form, e.kindTime[0], e.kindTime[1])
		if wrong != "" {
			return h.out.fault(e.line, form.Fix(e.kindTime[1]), "time %s %s",
				words.Quoted(e.kindTime[1]), wrong)
		}
	}
	for i, place := range h.codes {
		h.codes[i] = codes[place]
	}
	return nil
}

// set sets the value of attribute a for the edge that add adds next. It keeps an error about the first value that is
// no weight.
func (h *edgeBuffer) set(a *edgeAttribute, line int64, text string) {
	a.seen = true
	text = strings.TrimSpace(text)
	if i := h.codeOf(a); text != "" && i >= 0 {
		h.kindTime[i] = text
		return
	}
	if text == "" || a.text && !h.mayWeigh(a.name) {
		return
	}
	rounded := h.out.rounded
	w, wrong := h.out.word(line, []byte(text))
	if h.out.rounded > rounded { // rounding counts only if the attribute is the weight
		h.out.rounded = rounded
		if a.rounded++; a.rounded == 1 {
			a.roundedAt = place(line)
		}
	}
	a.isNumber = a.isNumber || wrong == ""
	a.isSigned = a.isSigned || w < 0
	if a.name != "" && !h.mayWeigh(a.name) && a.key != h.out.Weight {
		return
	}
	if wrong != "" {
		if a.bad == nil {
			a.bad = h.out.fault(line, "correct it", "weight %s %s",
				words.Quoted(text), wrong)
		}
		w = 0
	}
	edge := len(h.hasArrow)
	if n := len(a.values); n > 0 && a.values[n-1].edge == edge {
		a.values = a.values[:n-1]
	}
	h.bytes -= 16 * int64(cap(a.values))
	a.values = append(a.values, edgeValue{edge, w})
	h.bytes += 16 * int64(cap(a.values))
}

func (h *edgeBuffer) useOf(a *edgeAttribute) string {
	isNamed := func(name string) bool { return name != "" && (a.key == name || strings.EqualFold(a.name, name)) }
	switch {
	case isNamed(h.out.Kind):
		return input.Kind
	case isNamed(h.out.Time):
		return input.Time
	}
	return ""
}

func (h *edgeBuffer) codeOf(a *edgeAttribute) int {
	return slices.Index([]string{input.Kind, input.Time}, h.useOf(a))
}

func (h *edgeBuffer) setDefault(a *edgeAttribute, line int64, text string) {
	text = strings.TrimSpace(text)
	if text == "" {
		return
	}
	a.seen = true
	a.initial = text
	if _, wrong := h.out.parse([]byte(text)); wrong != "" {
		a.bad = h.out.fault(line, "correct it", "weight %s %s",
			words.Quoted(text), wrong)
	}
}

// unite joins attributes with the same name, because NetworkX declares an attribute once for each type of its values.
// An attribute that the caller chose by key as the weight is not joined.
func (h *edgeBuffer) unite() {
	first := map[string]*edgeAttribute{}
	h.attributes = slices.DeleteFunc(h.attributes, func(a *edgeAttribute) bool {
		a.name = cmp.Or(a.name, a.key)
		if a.name == "" || !a.seen || a.key == h.out.Weight {
			return false
		}
		into := first[a.name]
		if into == nil {
			first[a.name] = a
			return false
		}
		into.values = append(into.values, a.values...)
		slices.SortStableFunc(into.values,
			func(a, b edgeValue) int { return a.edge - b.edge })
		into.isNumber = into.isNumber || a.isNumber
		into.initial = cmp.Or(into.initial, a.initial)
		into.bad = cmp.Or(into.bad, a.bad)
		into.rounded, into.roundedAt = into.rounded+a.rounded,
			cmp.Or(into.roundedAt, a.roundedAt)
		return true
	})
}

// usualWeights are the attributes that may be the weight if the caller names none, in order of preference.
var usualWeights = []string{"weight", "value"}

func (h *edgeBuffer) mayWeigh(name string) bool {
	if h.out.Weight != "" {
		return strings.EqualFold(name, h.out.Weight)
	}
	return slices.Contains(usualWeights, strings.ToLower(name))
}

func (h *edgeBuffer) weight() (*edgeAttribute, error) {
	find := func(match func(a *edgeAttribute) bool) *edgeAttribute {
		index := slices.IndexFunc(h.attributes,
			func(a *edgeAttribute) bool { return a.seen && match(a) })
		if index < 0 {
			return nil
		}
		return h.attributes[index]
	}
	if h.out.Weight == "" {
		for _, name := range usualWeights {
			a := find(func(a *edgeAttribute) bool { return strings.EqualFold(a.name, name) })
			if a == nil || a.bad != nil && name != usualWeights[0] {
				continue // "value" may be text
			}
			return a, a.bad
		}
		if a := find(func(a *edgeAttribute) bool { return a.isSigned }); a != nil {
			return nil, h.out.fault(0, "pass {weight="+a.name+"}",
				"edges have no weight, and the attribute %s has both signs",
				words.Quoted(a.name))
		}
		return nil, nil
	}
	for _, match := range []func(a *edgeAttribute) bool{
		func(a *edgeAttribute) bool { return a.name == h.out.Weight },
		func(a *edgeAttribute) bool { return a.key == h.out.Weight },
		func(a *edgeAttribute) bool { return strings.EqualFold(a.name, h.out.Weight) },
	} {
		a := find(match)
		if a != nil && table.IsDistance(a.name) && !h.out.Reciprocal {
			return nil, h.out.fault(0, table.DistanceFix(a.name), "the name of the weight, %s, %s", words.Quoted(a.name), table.DistanceFault)
		}
		if a != nil {
			return a, a.bad
		}
	}
	has := "edges have no attributes"
	if names := listNames(h.attributes, func(a *edgeAttribute) bool { return a.seen }); names != "" {
		has = "edges have " + names
	}
	return nil, h.out.fault(0, "choose with {weight=NAME}; "+has,
		"no edge has the attribute %s", words.Quoted(h.out.Weight))
}

func listNames(attributes []*edgeAttribute,
	isListed func(a *edgeAttribute) bool) string {
	const longest = 20
	var names []string
	for _, a := range attributes {
		if isListed(a) {
			names = append(names, words.Quoted(a.name))
		}
	}
	if omitted := len(names) - longest; omitted > 0 {
		names = append(names[:longest], words.Counted(omitted, "other"))
	}
	return strings.Join(names, ", ")
}

func (h *edgeBuffer) finish(lines int64) (*Summary, error) {
	h.unite()
	weight, err := h.weight()
	if err != nil {
		return nil, err
	}
	for _, step := range []func() error{h.nodes.checkDeclared, h.nodes.settle, h.finishCodes} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	s := &Summary{Direction: Undirected, Lines: lines, Notes: h.nodes.notes}
	h.describe(s, weight)
	if h.out.Directed || !h.out.Undirected && slices.Contains(h.hasArrow, true) {
		s.Direction = Directed
	}
	if weight != nil {
		h.out.weighted = true
		h.out.rounded = weight.rounded
		h.out.roundedAt = weight.roundedAt
	}
	weightOf := weight.reader(h.out.parse)
	missing := int64(0)
	for i, hasArrow := range h.hasArrow {
		w, isGiven := weightOf(i)
		if !isGiven {
			missing++
		}
		source := h.nodes.names[h.ends[2*i]]
		target := h.nodes.names[h.ends[2*i+1]]
		if err := h.text(i, source, target, w); err != nil {
			return nil, err
		}
		if s.Direction != Directed || hasArrow || h.ends[2*i] == h.ends[2*i+1] {
			continue
		}
		if err := h.text(i, target, source, w); err != nil { // an edge without direction goes both ways
			return nil, err
		}
	}
	if weight != nil && missing > 0 {
		s.Notes = append(s.Notes, MissingWeights(h.out.Name, 0, missing))
	}
	return s, nil
}

// MissingWeights returns the warning that the given number of edges lack a weight, and that others have one. line is
// the line of the first edge without a weight, or 0 if unknown.
func MissingWeights(name string, line, edges int64) error {
	return textio.Fault(name, line, "write a weight for every edge",
		"the weight is missing on %s and taken as 1", words.Counted(edges, "edge"))
}

func (h *edgeBuffer) text(i int, source, target []byte, w float64) error {
	code := uint32(0)
	if len(h.codes) > 0 {
		code = h.codes[i]
	}
	return h.out.addCode(code, h.out.texts(source, target, w))
}

// reader returns a function that returns the weight of an edge: the value, else the attribute's default value, else
// 1, as in NetworkX. The function must be called for increasing edges.
func (a *edgeAttribute) reader(parse func(word []byte) (w float64, wrong string)) func(edge int) (weight float64, isGiven bool) {
	if a == nil {
		return func(int) (float64, bool) { return 1, false }
	}
	initial, wrong := parse([]byte(a.initial))
	if wrong != "" {
		initial = 1
	}
	values := a.values
	return func(edge int) (float64, bool) {
		for len(values) > 0 && values[0].edge < edge {
			values = values[1:]
		}
		if len(values) == 0 || values[0].edge > edge {
			return initial, wrong == ""
		}
		return values[0].weight, true
	}
}

// describe adds the uses of the attributes to s. It also adds a note about unused numeric attributes, which may have
// been meant as the weight.
func (h *edgeBuffer) describe(s *Summary, weight *edgeAttribute) {
	for _, a := range h.attributes {
		switch {
		case a == weight:
			s.Columns = append(s.Columns,
				input.Column{Title: a.name, Use: input.Weight, Note: map[bool]string{true: "reciprocal"}[h.out.Reciprocal]})
		case a.seen:
			s.Columns = append(s.Columns,
				input.Column{Title: a.name, Use: h.useOf(a)})
		}
	}
	numbers := listNames(h.attributes, func(a *edgeAttribute) bool {
		return a != weight && a.bad == nil && a.isNumber &&
			(weight == nil || h.mayWeigh(a.name))
	})
	switch {
	case numbers == "" || h.out.Weight != "":
	case weight != nil:
		s.Notes = append(s.Notes,
			h.out.fault(0, "choose with {weight=value}",
				"the edge attribute %s is the weight, not %s",
				words.Quoted(weight.name), numbers))
	default:
		s.Notes = append(s.Notes,
			h.out.fault(0, "choose one with {weight=NAME}, or for distances {weight=1/NAME}",
				"no edge has the attribute weight or value; the numbers %s are ignored", numbers))
	}
}
