package nodefile

import (
	"testing"

	"github.com/heatwalk/heatwalk/file/table"
)

func TestFirstData(t *testing.T) {
	for text, want := range map[string][2]int{
		"a\tb\n":                             {0, -1},
		"# c\n\na\tb\n":                      {2, -1},
		"#blm\t#metoo\n#metoo\tx\nx\t#blm\n": {0, -1}, // #blm occurs below
		"#a\tb\nc\td\n":                      {1, 0},
		"#a\tb\nc\td\n%e\tf\n":               {1, 0},
		"#source\ttarget\na\tb\n":            {1, -1},
		"#node\na\n":                         {1, -1},
		"#5\t6\n1\t2\n":                      {1, -1}, // ids are integers
		"#a\t#b\n#b\t#c\n":                   {0, -1},
		"#a\t#b\n":                           {-1, 0},
		"# only\n":                           {-1, -1},
		"":                                   {-1, -1},
		"//a\tb\nb\t//a\n":                   {0, -1},
		"##a\tb\nb\t##a\n":                   {1, -1},
	} {
		first, doubtful := table.FirstData([]byte(text), func(line []byte) byte { return table.Separator("e.tsv", line) }, nil)
		if [2]int{first, doubtful} != want {
			t.Errorf("%q: %d, %d, want %v", text, first, doubtful, want)
		}
	}
}
