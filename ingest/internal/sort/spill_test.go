package sort

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestSpillIsUsedAgain(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	s := &Spill{}
	var used []region
	for range 50 {
		used = append(used, s.reserve(1+r.Int64N(1000)))
	}
	end := s.end
	r.Shuffle(len(used), func(i, j int) { used[i], used[j] = used[j], used[i] })
	kept := slices.Clone(used[40:])
	s.reuse(used[:25])
	s.reuse(used[25:40])
	for range 100 {
		kept = append(kept, s.reserve(1+r.Int64N(300)))
	}
	slices.SortFunc(kept, func(a, b region) int { return cmp.Compare(a.offset, b.offset) })
	inside := 0
	for i, k := range kept[1:] {
		if before := kept[i]; before.offset+before.length > k.offset {
			t.Errorf("%v and %v overlap", before, k)
		}
		if k.offset+k.length <= end {
			inside++
		}
	}
	if inside < 60 {
		t.Errorf("%d regions are used again", inside)
	}
}

func TestRecords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		top := rapid.Uint32().Draw(t, "top") >> rapid.IntRange(0, 31).Draw(t, "shift")
		code := rapid.SliceOfN(rapid.Uint32Range(0, top), 0, 100).Draw(t, "code")
		code = code[:len(code)&^1]
		width := CodeWidth(top)
		b := packCodes([]byte("head"), code, width)
		if want := 4 + (len(code)*int(width)+7)/8; len(b) != want {
			t.Fatalf("%d bytes, want %d", len(b), want)
		}
		got := make([]uint32, len(code))
		unpackCodes(got, append(b, make([]byte, packSlack)...)[4:], width)
		for i := range got {
			if got[i] != code[i] {
				t.Fatalf("code %d is %d, want %d (%d bits)", i, got[i], code[i], width)
			}
		}
		keyWidth := rapid.IntRange(4, 8).Draw(t, "bytes of a key")
		largest := uint64(math.MaxUint64) >> (64 - 8*keyWidth)
		keys := append(rapid.SliceOfN(rapid.Uint64Range(0, largest), 0, 100).Draw(t, "keys"), largest)
		b = appendKeys([]byte("head"), keys, keyWidth)
		if want := 4 + len(keys)*keyWidth; len(b) != want {
			t.Fatalf("%d bytes, want %d", len(b), want)
		}
		if back := keysFrom([]uint64{1}, append(b, 255, 255, 255, 255, 255, 255, 255, 255)[4:], len(keys), keyWidth); !slices.Equal(back[1:], keys) {
			t.Fatalf("keys %x, want %x", back[1:], keys)
		}
		weight := rapid.SliceOfN(rapid.OneOf(rapid.Just(0.1), rapid.Just(0.25), rapid.Just(2.0), rapid.Float64Min(0)), 0, 20).Draw(t, "weight")
		form := formOf(weight)
		back := make([]float64, len(weight))
		weightsTo(back, appendWeights(nil, weight, form), form)
		for i := range back {
			if math.Float64bits(back[i]) != math.Float64bits(weight[i]) {
				t.Fatalf("weight %v came back as %v in form %d", weight[i], back[i], form)
			}
		}
	})
}
