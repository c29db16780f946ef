package param

import "testing"

func TestParseTerm(t *testing.T) {
	n, err := ParseTerm(" diffusion:beta=2:laplacian=combinatorial ")
	if err != nil || n.Name != "diffusion" || n.Texts["beta"] != "2" || n.Texts["laplacian"] != "combinatorial" {
		t.Errorf("%+v, %v", n, err)
	}
	for text, want := range map[string]string{
		"d:beta":          `d: "beta" is no parameter; write d:PARAMETER=VALUE`,
		"d:beta=":         `d: "beta=" is no parameter; write d:PARAMETER=VALUE`,
		"d:=2":            `d: "=2" is no parameter; write d:PARAMETER=VALUE`,
		"d:beta=1:beta=2": "d: beta: given twice; leave one out",
	} {
		if _, err := ParseTerm(text); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
