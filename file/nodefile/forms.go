package nodefile

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
)

// graphForms matches the beginning of graphs and of JSON. The name of the matching group is the form.
var graphForms = textio.Pattern(`(?s)^(?:(?P<Matrix_Market>%%MatrixMarket)|(?P<GraphML>(?:<.*)?<graphml)|(?P<GEXF>(?:<.*)?<gexf)|` +
	`(?P<Pajek>\*[Vv]ertices)|(?P<GML>graph \[)|(?P<JSON>[{\[]["\n]|\[[{\[]))`)

// fixes maps a form of graphForms to a second remedy.
var fixes = map[string]string{"JSON": ", or objects of texts and numbers: pandas writes them by to_json(orient='records'), jq of a list in the member NAME by jq -c '.NAME[]' {file} > table.jsonl, of a dictionary by jq -c 'to_entries[] | .key as $k | .value | if type == \"object\" then {node: $k} + . elif type == \"array\" then .[] | {node: $k, label: .} else {node: $k, label: .} end' {file} > table.jsonl"}

func refuseGraph(t *Reader, head []byte) error {
	if isList(t.Name) {
		return nil
	}
	if err := textio.CheckRead(t.Name, head); err != nil {
		return err
	}
	if t.Lookup == nil && t.Value == "" || textio.RecordTitles(head, nil) != nil {
		return nil
	}
	groups := graphForms().FindSubmatch(bytes.TrimLeft(bytes.TrimPrefix(head,
		[]byte("\xef\xbb\xbf")), table.Blank+"\n"))
	for i, form := range graphForms().SubexpNames() {
		if form != "" && groups != nil && groups[i] != nil {
			return textio.Fault(t.Name, 0,
				"give a table with the node and its "+cmp.Or(t.Value, "attributes")+
					" on each line"+fixes[form], "a %s file is no table of nodes", strings.ReplaceAll(form, "_", " "))
		}
	}
	return nil
}
