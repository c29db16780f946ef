package heatwalk

import (
	"cmp"
	"context"

	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// ReadAttributes reads attributes of nodes as [tablefile.ReadFeatures] does, within the memory that the graph leaves. If path
// is "", it returns the attributes of the store, or nil if there are none.
func (g *Graph) ReadAttributes(ctx context.Context, path string, c *tablefile.FeatureConfig) (*tablefile.Features, error) {
	if err := g.checkOpen(); err != nil {
		return nil, err
	}
	config := *cmp.Or(c, new(tablefile.FeatureConfig))
	if path == "" {
		if g.Store == nil || g.Store.Manifest.Attributes == nil {
			return nil, nil
		}
		var err error
		if path, err = shard.AttributesOf(ctx, g.Store.Store); err != nil {
			return nil, err
		}
		nodes := g.Store.Store.Nodes
		config.Rows = &tablefile.Axis{N: nodes.Len(), ID: nodes.ID}
		config.SkipUnknown = true // nodes outside the largest component
	}
	config.Memory = cmp.Or(config.Memory, g.Plan().Room())
	return tablefile.ReadFeatures(ctx, path, g.Nodes, &config)
}

// ReadLabels reads a file of nodes and labels. It returns labels by id, for [Graph.Classify]. c may be nil.
func (g *Graph) ReadLabels(ctx context.Context, path string, c *nodefile.LabelConfig) (map[string]string, error) {
	if err := g.checkOpen(); err != nil {
		return nil, err
	}
	l, err := nodefile.ReadLabels(ctx, path, g.Nodes, c)
	if err != nil {
		return nil, err
	}
	labels := make(map[string]string, len(l.Row))
	for i, row := range l.Row {
		labels[g.Nodes.ID(row)] = l.Names[l.Class[i]]
	}
	return labels, nil
}

// attach reads the attributes that the options name, stores them in p and returns them, or nil if there are none. The jobs of
// the returned graph leave memory for the attributes.
func (o *ClassifyOptions) attach(ctx context.Context, g *Graph, p *engine.Problem,
	config *tablefile.FeatureConfig) (*tablefile.Features, *Graph, error) {
	f, err := g.ReadAttributes(ctx, o.Attributes, config)
	if f == nil || err != nil {
		return nil, g, err
	}
	p.Attributes = f.Table
	return f, g.Leave(f.Table.Bytes, "attributes"), nil
}

func (o *ClassifyOptions) reading(p *engine.Problem) *tablefile.FeatureConfig {
	config := *cmp.Or(o.Reading, new(tablefile.FeatureConfig))
	if config.Labels == nil {
		config.Labels = &nodefile.Labels{Row: p.Row, Class: p.Class, Names: p.Names}
	}
	return &config
}

// NameAttributes sets the titles and values of the attributes in reasons, from the table f; f may be nil.
func NameAttributes(f *tablefile.Features, list []Reasons) {
	if f == nil {
		return
	}
	reader := f.Table.Reader()
	row := make([]float32, f.Table.Cols)
	for i := range list {
		columns, values := reader.Row(list[i].Row)
		if columns != nil { // columns of the values that are not 0
			clear(row)
			for k, column := range columns {
				row[column] = values[k]
			}
			values = row
		}
		for k := range list[i].Attributes {
			a := &list[i].Attributes[k]
			a.Name = f.Name(a.Column, values)
		}
	}
}
