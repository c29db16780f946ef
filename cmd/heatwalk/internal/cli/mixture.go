package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// mixedModel is a model in the mixture of auto.
type mixedModel struct {
	name, parameters string
	weight           float64
}

// mixtureOf returns the models of the mixture that auto has chosen, by decreasing weight.
func mixtureOf(choice any) (list []mixedModel) {
	var model struct{ Mixture []map[string]any }
	if text, err := json.Marshal(choice); err != nil || json.Unmarshal(text, &model) != nil {
		return nil
	}
	for _, component := range model.Mixture {
		m := mixedModel{name: "logistic regression"}
		m.weight, _ = component["weight"].(float64)
		var features []string
		if component["alone"] != true {
			features = append(features, "walks")
		}
		for _, key := range slices.Sorted(maps.Keys(component)) {
			switch value := component[key].(type) {
			case bool:
				if name := map[string]string{
					"poisson": "Poisson learning", "propagation": "label propagation", "beliefs": "beliefs of a block model",
					"constant": "class prior", "rounds": "ridge regression in rounds", "diffusion": "diffusion",
				}[key]; name != "" {
					m.name, features = name, nil
				}
				if feature := map[string]string{"attributes": "attributes", "links": "links", "free": "class features"}[key]; feature != "" {
					features = append(features, feature)
				}
			case float64:
				if key != "weight" {
					m.parameters += fmt.Sprintf(", %s %.3g", key, value)
				}
			}
		}
		if m.name == "logistic regression" {
			m.name += " on " + strings.Join(features, ", ")
		}
		m.parameters = strings.TrimPrefix(m.parameters, ", ")
		list = append(list, m)
	}
	slices.SortStableFunc(list, func(a, b mixedModel) int { return cmp.Compare(b.weight, a.weight) })
	return list
}
