package lines

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestTooMany(t *testing.T) {
	defer func(n int) { maxPlaces = n }(maxPlaces)
	maxPlaces = 100
	d := NewDict()
	var err error
	for i := 0; err == nil && i < 16*100+1; i++ {
		var b IDBatch
		b.AddCopy(d, 0, []byte(strings.Repeat("x", i+1)))
		err = d.Codes(make([]uint32, 1), nil, &b, uint64(i))
	}
	if !errors.Is(err, ErrTooMany) || d.Len() > 16*100 {
		t.Errorf("%d ids, error %v", d.Len(), err)
	}
}

func TestDictBytes(t *testing.T) {
	d := NewDict()
	for i := range 40_000 {
		var b IDBatch
		b.AddCopy(d, 0, fmt.Appendf(nil, "name %d", i*i))
		if err := d.Codes(make([]uint32, 1), nil, &b, uint64(i)); err != nil {
			t.Fatal(err)
		}
		if i%777 != 0 {
			continue
		}
		n, text := int64(d.Len()), d.TextBytes()
		if is, bound := d.Bytes(), DictBytes(n, text); is > bound || float64(bound) > 1.5*float64(is)+1<<19 {
			t.Fatalf("%d ids of %d bytes take %d, bound %d", n, text, is, bound)
		}
	}
}
