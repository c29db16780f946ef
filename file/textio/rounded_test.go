package textio

import (
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

func TestRounded(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 53))
	words := []string{"9007199254740991", "9007199254740992", "9007199254740993", "9007199254740994", "18446744073709551615", "18446744073709551616", "0"}
	for range 2000 {
		n := new(big.Int).Lsh(big.NewInt(random.Int64N(1<<54)), uint(random.IntN(50)))
		words = append(words, n.Add(n, big.NewInt(random.Int64N(3))).String())
	}
	rounded := 0
	for _, word := range words {
		w, err := strconv.ParseFloat(word, 64)
		if err != nil {
			t.Fatal(err)
		}
		n, _ := new(big.Int).SetString(word, 10)
		value, _ := big.NewFloat(w).Int(nil)
		want := value.Cmp(n) != 0
		if want {
			rounded++
		}
		for _, text := range []string{word, "+" + word, "000" + word} {
			if got := IsRounded([]byte(text), w); got != want {
				t.Errorf("%s is rounded: %v, want %v", text, got, want)
			}
		}
		if got := IsRounded([]byte("-"+word), -w); got != want {
			t.Errorf("-%s is rounded: %v, want %v", word, got, want)
		}
	}
	if rounded < 100 || rounded > len(words)-100 {
		t.Errorf("%d of %d integers are rounded, too few for a test", rounded, len(words))
	}
	for _, text := range []string{"9007199254740993.5", "9007199254740993e0", "1e300", "0.1", "", "-", strings.Repeat("9", 3) + "x"} {
		w, _ := strconv.ParseFloat(text, 64)
		if IsRounded([]byte(text), w) {
			t.Errorf("%q is rounded", text)
		}
	}
}
