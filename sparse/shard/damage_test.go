package shard

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/internal/durable/durabletest"
	"github.com/heatwalk/heatwalk/sparse"
)

var inf = math.Inf(1)

var bg = context.Background()

func cancelled() context.Context {
	ctx, cancel := context.WithCancel(bg)
	cancel()
	return ctx
}

// reseal corrects the checksums of a changed store.
func reseal(mem *durabletest.Mem, change func(*Manifest)) {
	m := must(readManifest(mem, "g"))
	for _, d := range places(mem, m) {
		for _, f := range d.frames {
			mem.Change(filepath.Join("g", m.Files[f.shard].Name), func(b []byte) []byte {
				if end := f.offset + int64(f.bytes); end <= int64(len(b)) {
					frame := b[f.offset:end]
					binary.LittleEndian.PutUint32(frame[atSum:], frameSum(frame))
				}
				return b
			})
		}
	}
	for i := range m.Files {
		f := &m.Files[i]
		b := must(readFile(mem, filepath.Join("g", f.Name), 1<<20))
		f.Bytes, f.CRC = int64(len(b)), sumText(crc32.Checksum(b, castagnoli))
	}
	if change != nil {
		change(m)
	}
	b := must(m.encode())
	mem.Change(filepath.Join("g", manifestName), func([]byte) []byte { return b })
}

func places(mem *durabletest.Mem, m *Manifest) [2]direction {
	b := must(readFile(mem, filepath.Join("g", fileName(m.identity(), indexEnding)), 1<<20))
	dirs, err := parseIndex("", b[min(fileHead, len(b)):], m)
	if err != nil {
		return [2]direction{}
	}
	return dirs
}

func TestExchanged(t *testing.T) {
	s, other := newSample(0xa1), newSample(0xb2)
	s.o.ShardBytes, other.o.ShardBytes = 0, 0
	rng := rand.New(rand.NewPCG(1, 1))
	s.a, s.back = graph(rng, 40000, 30, 0, true, func() float64 { return 1 }) // rows and columns of equal length
	s.nodes, other.nodes = nil, nil
	other.a, other.back = s.a, s.back
	base, foreign := durabletest.NewMem(), durabletest.NewMem()
	must(0, s.write(base))
	must(0, other.write(foreign))
	m := must(readManifest(base, "g"))
	dirs := places(base, m)
	first := "g/" + shardName(0xa1, 0)

	t.Run("foreign shard", func(t *testing.T) {
		mem := durabletest.Clone(base)
		b := must(readFile(foreign, "g/"+shardName(0xb2, 0), 1<<20))
		mem.Change(first, func([]byte) []byte { return b })
		wantError(t, scan(mem), ErrCorrupt, first+": belongs to store 00000000000000b2, this is 00000000000000a1; restore the file or ingest again")
	})
	t.Run("swapped shards", func(t *testing.T) {
		mem := durabletest.Clone(base)
		in := "g/" + shardName(0xa1, 1)
		a, b := must(readFile(mem, first, 1<<20)), must(readFile(mem, in, 1<<20))
		mem.Change(first, func([]byte) []byte { return b })
		mem.Change(in, func([]byte) []byte { return a })
		wantError(t, scan(mem), ErrCorrupt, first+"@0: frame 0: holds frame 0 of direction 1 of shard 1, want frame 0 of direction 0 of shard 0; restore the file or ingest again")
	})
	t.Run("swapped frames", func(t *testing.T) {
		mem := durabletest.Clone(base)
		f, g := dirs[0].frames[0], dirs[0].frames[1]
		mem.Change(first, func(b []byte) []byte {
			swapped := append(bytes.Clone(b[g.offset:g.offset+int64(g.bytes)]), b[f.offset:f.offset+int64(f.bytes)]...)
			return append(swapped, b[g.offset+int64(g.bytes):]...)
		})
		wantError(t, scan(mem), ErrCorrupt, first+"@0: frame 0: holds frame 1 of direction 0 of shard 0, want frame 0 of direction 0 of shard 0; restore the file or ingest again")
	})
	t.Run("a frame twice", func(t *testing.T) {
		mem := durabletest.Clone(base)
		f, g := dirs[0].frames[0], dirs[0].frames[1]
		mem.Change(first, func(b []byte) []byte {
			copy(b[g.offset:], b[f.offset:][:min(f.bytes, g.bytes)])
			return b
		})
		if err := scan(mem); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), fmt.Sprintf("@%d: frame 1: ", g.offset)) {
			t.Error(err)
		}
	})
	t.Run("index of another store", func(t *testing.T) {
		mem := durabletest.Clone(base)
		b := must(readFile(foreign, "g/"+fileName(0xb2, indexEnding), 1<<20))
		mem.Change("g/"+fileName(0xa1, indexEnding), func([]byte) []byte { return b })
		if err := scan(mem); !errors.Is(err, ErrCorrupt) {
			t.Error(err)
		}
		reseal(mem, nil)
		wantError(t, scan(mem), ErrCorrupt, "g/"+fileName(0xa1, indexEnding)+": belongs to store 00000000000000b2, this is 00000000000000a1; restore the file or ingest again")
	})
}

func TestVersions(t *testing.T) {
	base := durabletest.NewMem()
	must(0, newSample(0xa1).write(base))
	change := func(old, new string) error {
		mem := durabletest.Clone(base)
		mem.Change("g/manifest", func(b []byte) []byte {
			b = bytes.Replace(b, []byte(old), []byte(new), 1)
			at := len(b) - len(manifestTail) - sumDigits
			copy(b[at:], zeroSum)
			copy(b[at:], sumText(crc32.Checksum(b, castagnoli)))
			return b
		})
		return scan(mem)
	}
	as := func(version string) error { return change(`"format": 1,`, `"format": `+version+`,`) }
	must(0, as("1"))
	wantError(t, as("4"), ErrVersion, "g: format 4; this heatwalk reads 1 to 3; update heatwalk")
	wantError(t, as("99999999999999999999"), ErrVersion, "g: format 99999999999999999999; this heatwalk reads 1 to 3; update heatwalk")
	wantError(t, as("0"), ErrVersion, "g: format 0; this heatwalk reads 1 to 3; ingest again")
	wantError(t, change("four-widths", "five-widths"), ErrCorrupt, `g/manifest: codec "five-widths"; restore the file or ingest again`)
	mem := durabletest.Clone(base)
	mem.Change("g/manifest", func(b []byte) []byte { return bytes.Replace(b, []byte("rows"), []byte("Rows"), 1) })
	wantError(t, scan(mem), ErrCorrupt, "g/manifest: checksum wrong; do not edit, ingest again")
}

func writeRaw(w *Writer, r sparse.Range, lengths, ids []uint32, val []float64) error {
	frame := appendPayload(make([]byte, headerBytes), lengths, ids, val, make([]uint32, len(ids)))
	w.degrees = degreeList{content: make([]byte, r.Hi+1)}
	return w.writeFrame(&frameJob{r: r, frame: frame, degrees: make([]float64, 1)})
}

func TestImpossible(t *testing.T) {
	frame := func(lengths, ids []uint32, val []float64, payload func([]byte) []byte) error {
		mem := durabletest.NewMem()
		w := must(Create("g", &WriteOptions{fs: mem, Identity: 1}))
		r := sparse.Range{Hi: len(lengths), Entries: len(ids), Pieces: 1}
		must(0, writeRaw(w, r, lengths, ids, val))
		w.rows, w.entries, w.degrees, w.Manifest.Weighted = int64(r.Hi), int64(len(ids)), degreeList{content: appendLengths(nil, lengths)}, val != nil
		must(0, w.Commit(bg))
		if payload != nil {
			mem.Change("g/"+shardName(1, 0), func(b []byte) []byte {
				return append(b[:headerBytes:headerBytes], payload(b[headerBytes:])...)
			})
			reseal(mem, nil)
		}
		return scan(mem)
	}
	const at = "g/0000000000000001-0000.shard@0: frame 0: "
	set := func(i int, v byte) func([]byte) []byte {
		return func(b []byte) []byte { b[i] = v; return b }
	}
	last := func(v byte) func([]byte) []byte {
		return func(b []byte) []byte { b[len(b)-1] |= v; return b }
	}
	lengths, ids := []uint32{2, 0, 1}, []uint32{0, 2, 1}
	must(0, frame(lengths, ids, nil, nil))
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"columns out of order", frame(lengths, []uint32{2, 1, 1}, nil, nil), "row 0: column 1 after 2"},
		{"column twice", frame(lengths, []uint32{2, 2, 1}, nil, nil), "row 0: column 2 after 2"},
		{"column too large", frame(lengths, []uint32{0, 1, 3}, nil, nil), "row 2: column 3 of 3"},
		{"infinite value", frame(lengths, ids, []float64{1, inf, 1}, nil), "row 0, column 2: value +Inf"},
		{"row lengths", frame([]uint32{2, 0, 2}, ids, nil, nil), "row lengths do not add up to 3 entries"},
		{"widths", frame(lengths, ids, nil, set(atWidths, 9)), "widths [9 1 2 2] for ids of 2 bits"},
		{"bits", frame(lengths, ids, nil, set(atBits, 33)), "ids of 33 bits, values of form 0"},
		{"values", frame(lengths, ids, []float64{1, 2, 1}, set(atValues, valueForms)), "ids of 2 bits, values of form 6"},
		{"values of an unweighted store", frame(lengths, ids, nil, set(atValues, 1)), "ids of 2 bits, values of form 1"},
		{"bits after the end", frame(lengths, ids, nil, last(0x80)), "bits set after the last id"},
		{"selector after the end", frame(lengths, ids, nil, set(payloadHead+3+3, 1)), "selectors set after the last id"},
	} {
		if c.err == nil || !strings.HasPrefix(c.err.Error(), at+c.want) || !errors.Is(c.err, ErrCorrupt) {
			t.Errorf("%s: %v\nwant %s%s", c.name, c.err, at, c.want)
		}
	}
}

func TestDirectories(t *testing.T) {
	for i := range 5 {
		dir := filepath.Join(t.TempDir(), "g")
		a, back := graph(rand.New(rand.NewPCG(1, 2)), 5, 9, 3, false, func() float64 { return 1 })
		write(t, dir, a, back, must(StringNodes(slices.Values([]string{"a", "b", "c", "d", "e"}))), WriteOptions{})
		m := must(readManifest(durable.OS, dir))
		path, kind := filepath.Join(dir, manifestName), ErrNotStore
		if i < len(m.Files) {
			path, kind = filepath.Join(dir, m.Files[i].Name), ErrCorrupt
		}
		must(0, errors.Join(os.Remove(path), os.Mkdir(path, 0o777)))
		if _, err := Open(bg, dir, nil); !errors.Is(err, kind) || !strings.Contains(err.Error(), path+": ") {
			t.Errorf("%s: %v", path, err)
		}
		w, err := Create(dir, &WriteOptions{Force: true})
		if err == nil {
			err = w.Abort()
		}
		if (kind == ErrNotStore) != errors.Is(err, ErrNotStore) {
			t.Errorf("%s: %v where a store is begun", path, err)
		}
	}
}

// Degrees must be finite when the store is opened, and the degrees of the rows when it is swept.
func TestForgedDegrees(t *testing.T) {
	for _, c := range []struct {
		val    []float64
		degree float64
		want   string
	}{
		{nil, 3, "-0000.shard@0: frame 0: row 2 has degree 2, the degrees file says 3"},
		{nil, 0, "-0000.shard@0: frame 0: row 2 has degree 2, the degrees file says 0"},
		{[]float64{.5, .25}, math.NaN(), ".degrees@32: degree of row 2 is NaN"},
		{[]float64{.5, .25}, inf, ".degrees@32: degree of row 2 is +Inf"},
		{[]float64{.5, .25}, -1, "-0000.shard@0: frame 0: row 2 has degree 0.75, the degrees file says -1"},
		{[]float64{.5, .25}, 1e-300, "-0000.shard@0: frame 0: row 2 has degree 0.75, the degrees file says 1e-300"},
	} {
		mem := durabletest.NewMem()
		w := must(Create("g", &WriteOptions{fs: mem, Identity: 1, Directed: true}))
		var one []float64
		if c.val != nil {
			one = c.val[:1]
		}
		must(0, w.Append([]uint32{1}, one, nil))
		must(0, w.Append([]uint32{2}, one, nil))
		must(0, w.Append([]uint32{0, 1}, c.val, nil))
		must(0, w.BeginIn())
		must(0, w.Append([]uint32{2}, one, nil))
		if c.val != nil {
			must(0, w.Append([]uint32{0, 2}, c.val, nil))
		} else {
			must(0, w.Append([]uint32{0, 2}, nil, nil))
		}
		must(0, w.Append([]uint32{1}, one, nil))
		must(0, w.Commit(bg))
		must(0, scan(mem))
		mem.Change("g/"+fileName(1, degreesEnding), func(b []byte) []byte {
			if c.val == nil {
				return append(b[:fileHead:fileHead], appendLengths(nil, []uint32{1, 1, uint32(c.degree)})...)
			}
			binary.LittleEndian.PutUint64(b[fileHead+16:], math.Float64bits(c.degree))
			return b
		})
		reseal(mem, nil)
		wantError(t, scan(mem), ErrCorrupt, "g/0000000000000001"+c.want+"; restore the file or ingest again")
	}
}

func TestHeaderFields(t *testing.T) {
	base := durabletest.NewMem()
	s := newSample(0xa1)
	must(0, s.write(base))
	name := "g/" + shardName(0xa1, 1)
	for at := range atSum {
		mem := durabletest.Clone(base)
		mem.Change(name, func(b []byte) []byte { b[at] ^= 0x11; return b })
		reseal(mem, nil)
		if err := scan(mem); !errors.Is(err, ErrCorrupt) || !strings.HasPrefix(err.Error(), name) {
			t.Errorf("header byte %d: %v", at, err)
		}
	}
}

func TestManifestFields(t *testing.T) {
	base := durabletest.NewMem()
	must(0, newSample(0xa1).write(base))
	for name, change := range map[string]func(*Manifest){
		"rows":       func(m *Manifest) { m.Rows++ },
		"rows < 0":   func(m *Manifest) { m.Rows = -1 },
		"entries":    func(m *Manifest) { m.Entries-- },
		"self loops": func(m *Manifest) { m.SelfLoops++ },
		"directed":   func(m *Manifest) { m.Directed = false },
		"weighted":   func(m *Manifest) { m.Weighted = false },
		"nodes":      func(m *Manifest) { m.Nodes = nodesNumeric },
		"order":      func(m *Manifest) { m.Order = "" },
		"kind":       func(m *Manifest) { m.Nodes = "other" },
		"no codec":   func(m *Manifest) { m.Codec = "none" },
		"frames":     func(m *Manifest) { m.Frames[0]++ },
		"negative":   func(m *Manifest) { m.Frames = [2]int64{-1, 3} },
		"more":       func(m *Manifest) { m.Frames[1] = 1 << 61 },
		"identity":   func(m *Manifest) { m.Identity = "00000000000000B2" },
		"no files":   func(m *Manifest) { m.Files = nil },
		"file name":  func(m *Manifest) { m.Files[0].Name = "../x" },
		"file sum":   func(m *Manifest) { m.Files[0].CRC = "00000000" },
		"file bytes": func(m *Manifest) { m.Files[0].Bytes = -1 },
	} {
		mem := durabletest.Clone(base)
		reseal(mem, change)
		if _, err := verify(bg, "g", &Options{fs: mem}); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestManifestNames(t *testing.T) {
	mem := durabletest.NewMem()
	must(0, newSample(0xa1).write(mem))
	reseal(mem, func(m *Manifest) { m.Files[1].Name = "../elsewhere" })
	wantError(t, scan(mem), ErrCorrupt, `g/manifest: file 1 is called "../elsewhere", want "00000000000000a1-0001.shard"; restore the file or ingest again`)
	must(0, newSample(0xa1).write(mem))
	reseal(mem, func(m *Manifest) { m.Files[0].CRC, m.Files[0].Bytes = "000000001", 5 })
	wantError(t, scan(mem), ErrCorrupt, `g/manifest: 00000000000000a1-0000.shard: 5 bytes, checksum "000000001"; restore the file or ingest again`)
}

func TestChangedAndSealed(t *testing.T) {
	mem, _ := streamed()
	s := must(Open(bg, "g", &Options{fs: mem, Memory: diskOnly(t, mem, 2), Workers: 2}))
	defer s.Close()
	nothing := func(int, sparse.Panel) error { return nil }
	must(0, sparse.Sweep(bg, s, 2, nothing))
	for i := range s.out.chunks {
		c := s.out.chunks[i]
		mem.Change("g/"+shardName(7, int(c.shard)), func(b []byte) []byte {
			b[len(b)-1] ^= 1
			binary.LittleEndian.PutUint32(b[atSum:], frameSum(b))
			return b
		})
	}
	if err := sparse.Sweep(bg, s, 2, nothing); !errors.Is(err, ErrChanged) {
		t.Error(err)
	}
}

// damage overwrites a file from a byte on. If the high bit of file is set, it first truncates the file there. If seal
// is set, it corrects every checksum, except in a damaged manifest.
func damage(mem *durabletest.Mem, file uint8, at uint16, patch []byte, seal bool) {
	names := must(mem.List("g"))
	name := names[int(file&0x7f)%len(names)]
	mem.Change("g/"+name, func(b []byte) []byte {
		at := min(int(at), len(b))
		if file&0x80 != 0 {
			b = b[:at]
		}
		return append(b[:at:at], append(patch, b[min(len(b), at+len(patch)):]...)...)
	})
	if seal && name != manifestName {
		reseal(mem, nil)
	}
}

func FuzzOpen(f *testing.F) {
	var bases [2]*durabletest.Mem
	for i := range bases {
		s := newSample(0xa1)
		if i == 1 {
			s.o.ShardBytes = 0
		}
		bases[i] = durabletest.NewMem()
		must(0, s.write(bases[i]))
		for file := range uint8(7) {
			f.Add(uint8(i), file, uint16(20), []byte{1, 255, 0, 7})
		}
	}
	f.Fuzz(func(t *testing.T, base, file uint8, at uint16, patch []byte) {
		mem := durabletest.Clone(bases[int(base)%len(bases)])
		damage(mem, file, at, patch, true)
		s, err := Open(bg, "g", &Options{fs: mem})
		if err != nil {
			return
		}
		defer s.Close()
		for _, a := range []sparse.Matrix{s, s.Transpose()} {
			if m, err := read(bg, a, 1); err == nil && m.NNZ() != a.NNZ() {
				t.Fatal("entries lost")
			}
		}
		for row := range s.Nodes.Rows() {
			_ = s.Nodes.ID(row)
		}
		_, _ = s.Nodes.Lookup("node 7")
	})
}

func FuzzStream(f *testing.F) {
	if testing.Short() {
		f.Skip("takes most of a second")
	}
	const (
		forged    = iota // before it is opened, with right checksums
		beforeAll        // before it is opened
		opened           // between opening and the first sweep
		swept            // after the first sweep
		reforged         // after the first sweep, with right checksums
		times
	)
	type base struct {
		sample
		mem    *durabletest.Mem
		target int // bytes of a chunk
	}
	small, packed, long := newSample(0xa1), newSample(0xa1), newSample(0xa1)
	packed.o.ShardBytes = 0
	rng := rand.New(rand.NewPCG(1, 1))
	long.a, long.back = graph(rng, 40000, 300, 0, false, rng.Float64) // three frames in a shard
	long.nodes, long.o.ShardBytes = nil, 0
	bases := []base{{sample: small, target: 1}, {sample: packed, target: 1}, {sample: long, target: math.MaxInt}}
	for i := range bases {
		b := &bases[i]
		b.mem = durabletest.NewMem()
		must(0, b.write(b.mem))
		for when := range uint8(times) {
			for file := range uint8(len(must(b.mem.List("g")))) {
				f.Add(uint8(i), when, file, uint16(20), []byte{1, 255, 0, 7})
				f.Add(uint8(i), when, file, uint16(150), []byte{1, 255, 0, 7})
				f.Add(uint8(i), when, file, uint16(200), []byte{255, 255})
				f.Add(uint8(i), when, file, uint16(250), []byte{1})
				f.Add(uint8(i), when, file|0x80, uint16(200), []byte{})
			}
		}
	}
	f.Fuzz(func(t *testing.T, index, when, file uint8, at uint16, patch []byte) {
		b := bases[int(index)%len(bases)]
		mem := durabletest.Clone(b.mem)
		when %= times
		if when <= beforeAll {
			damage(mem, file, at, patch, when == forged)
		}
		s, err := Open(bg, "g", &Options{fs: mem, Stream: true, Workers: 2})
		if err != nil {
			return
		}
		defer s.Close()
		for _, v := range s.storedViews() {
			v.chunks = nil
			s.longest = max(s.longest, v.cut(b.target))
		}
		if when == forged {
			resident, err := Open(bg, "g", &Options{fs: mem, Workers: 2})
			must(0, err)
			defer resident.Close()
			for _, pair := range [][2]sparse.Matrix{{s, resident}, {s.Transpose(), resident.Transpose()}} {
				want, wantErr := read(bg, pair[1], 2)
				for range 2 {
					got, err := read(bg, pair[0], 2)
					if (err == nil) != (wantErr == nil) {
						t.Fatalf("streamed: %v; in memory: %v", err, wantErr)
					}
					if err == nil {
						same(t, got, want)
					}
				}
			}
			return
		}
		// A sweep visits all rows of the written store, and no others, or returns an error.
		sweep := func(v *view, want *sparse.CSR) error {
			var shown atomic.Int64
			err := sparse.Sweep(bg, v, 2, func(_ int, p sparse.Panel) error {
				for i := p.Lo; i < p.Hi; i++ {
					col, val := p.Row(i - p.Lo)
					c, w := want.Row(i)
					if !slices.Equal(col, c) || !slices.Equal(val, w) {
						t.Errorf("row %d: %v %v, want %v %v", i, col, val, c, w)
					}
				}
				shown.Add(int64(p.Hi - p.Lo))
				return nil
			})
			if n, _ := want.Dims(); err == nil && shown.Load() != int64(n) {
				t.Errorf("%d rows of %d without an error", shown.Load(), n)
			}
			return err
		}
		if when == opened {
			damage(mem, file, at, patch, false)
		}
		for i, v := range s.storedViews() {
			want := []*sparse.CSR{b.a, b.back}[i]
			if err := sweep(v, want); err != nil && when > opened {
				t.Fatalf("undamaged: %v", err)
			}
		}
		if when > opened {
			damage(mem, file, at, patch, when == reforged)
		}
		for i, v := range s.storedViews() {
			for range 2 {
				_ = sweep(v, []*sparse.CSR{b.a, b.back}[i])
			}
		}
	})
}

func TestIndexFields(t *testing.T) {
	base := durabletest.NewMem()
	must(0, newSample(0xa1).write(base))
	name := "g/" + fileName(0xa1, indexEnding)
	for at := range int(must(base.Stat(name)).Size()) {
		mem := durabletest.Clone(base)
		mem.Change(name, func(b []byte) []byte { b[at] ^= 0x11; return b })
		reseal(mem, nil)
		if err := scan(mem); !errors.Is(err, ErrCorrupt) {
			t.Errorf("index byte %d: %v", at, err)
		}
	}
}

// Frames, headers and index agree on ranges that no cut has.
func TestImpossibleCuts(t *testing.T) {
	ids := make([]uint32, sparse.MaxRange+1)
	for i := range ids {
		ids[i] = uint32(i)
	}
	for name, ranges := range map[string][]sparse.Range{
		"no rows":          {{Pieces: 1}, {Hi: sparse.MaxRange, Pieces: 1}},
		"too many rows":    {{Hi: sparse.MaxRange + 1, Pieces: 1}},
		"too many entries": {{Hi: sparse.MaxRange, Entries: sparse.MaxRange + 1, Pieces: 1}},
		"half a row":       {{Hi: 1, Entries: sparse.MaxRange, Pieces: 2}, {Lo: 1, Hi: 2, Entries: 1, Pieces: 1}},
		"short piece":      {{Hi: 1, Entries: 5, Pieces: 2}, {Hi: 1, Entries: 1, Piece: 1, Pieces: 2}},
		"empty piece":      {{Hi: 1, Entries: sparse.MaxRange, Pieces: 2}, {Hi: 1, Piece: 1, Pieces: 2}},
		"second half":      {{Hi: 1, Entries: 5, Piece: 1, Pieces: 2}},
		"no pieces":        {{Hi: 1, Entries: 5}},
	} {
		mem := durabletest.NewMem()
		w := must(Create("g", &WriteOptions{fs: mem, Identity: 1}))
		for _, r := range ranges {
			var lengths []uint32
			if r.Pieces == 1 {
				lengths = make([]uint32, r.Hi-r.Lo)
				if len(lengths) > 0 {
					lengths[0] = uint32(r.Entries)
				}
			}
			must(0, writeRaw(w, r, lengths, ids[:r.Entries], nil))
			w.rows, w.entries = int64(r.Hi), w.entries+int64(r.Entries)
		}
		w.degrees = degreeList{content: make([]byte, w.rows)}
		must(0, w.Commit(bg))
		var c *CorruptError
		if err := scan(mem); !errors.As(err, &c) || c.Path != "g/"+fileName(1, indexEnding) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestShardWithoutFrames(t *testing.T) {
	mem := durabletest.NewMem()
	s := newSample(0xa1)
	must(0, s.write(mem))
	name := shardName(0xa1, 2)
	must(0, must(mem.Create("g/"+name)).Close())
	reseal(mem, func(m *Manifest) {
		m.Files = slices.Insert(m.Files, 2, File{Name: name, CRC: zeroSum})
	})
	if err := scan(mem); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "frames end at byte") {
		t.Error(err)
	}
}
