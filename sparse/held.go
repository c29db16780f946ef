package sparse

import (
	"context"
	"sync"
	"unsafe"

	"github.com/heatwalk/heatwalk/internal/pages"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
)

// TileRoom is memory in which steps over a matrix whose ids are decoded anew in every
// sweep, as those of a store, gather tile by tile, as those over a [NewTiled] copy do:
// a worker holds panels of long rows back until a tile has enough entries to bring its
// rows of the block near. It is for matrices whose first columns have most of the
// entries; where these turn out to have few, panels are gathered one by one. One step
// uses it at a time, another one does without; no bit of a result depends on it.
type TileRoom struct {
	workers int

	mu    sync.Mutex
	held  []held // of each worker, nil before the first use
	taken bool
}

// held is what a worker holds back: the entries of some rows in each tile, and those
// that are in none. A tile may be added to the sums of the rows, and be empty again,
// before the next one is.
type held struct {
	columns    int // of a tile
	tiles      [heldTiles]heldTile
	panels     []Panel // their far entries
	ptr        []int64 // of these
	far        []uint32
	sums       []float64 // of the rows, or twice as many float32
	rows       int
	near, seen int // entries of the sweep: in tiles, and all that were held
}

// heldTile is the entries of a tile in the rows from first on, in CSR layout.
type heldTile struct {
	first int
	ptr   []int64
	ids   []uint16
}

const (
	heldTiles       = simd.BoundsLanes
	heldTileEntries = 1 << 16
	heldFar         = 1 << 18
	heldRows        = 1 << 13
	heldSums        = 2 << 20 // bytes

	// What pays: rows of a block of so many bytes, panels whose rows have so many
	// entries in the mean, so many entries of a row in a tile, and a third of all
	// entries in tiles, once so many were seen.
	leastHeldBytes = 96
	heldLength     = 64
	heldSegment    = 3
	heldTrial      = 1 << 20
)

// NewTileRoom returns room for steps with up to so many workers. It takes its memory
// when it is first used.
func NewTileRoom(workers int) *TileRoom { return &TileRoom{workers: workers} }

// TileRoomBytes returns the memory of room for so many workers.
func TileRoomBytes(workers int) int64 {
	const (
		tile   = 2*(heldTileEntries+spareIDs) + 8*(heldRows+1)
		panels = heldRows * int64(unsafe.Sizeof(Panel{}))
	)
	return int64(workers) * (heldTiles*tile + panels + 2*8*heldRows + 4*(heldFar+spareIDs) + heldSums)
}

// take returns what each of so many workers may hold, or nil while another step has it.
func (r *TileRoom) take(workers, columns int) []held {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.taken || workers > r.workers {
		return nil
	}
	if r.held == nil {
		r.held = make([]held, r.workers)
		for i := range r.held {
			r.held[i].make()
		}
	}
	for i := range r.held {
		h := &r.held[i]
		h.columns, h.near, h.seen = columns, 0, 0
		h.reset() // an error may have ended the last sweep
	}
	r.taken = true
	return r.held
}

func (r *TileRoom) giveBack() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.taken = false
}

func (h *held) make() {
	for i := range h.tiles {
		h.tiles[i] = heldTile{ptr: make([]int64, 0, heldRows+1), ids: pages.Make[uint16](heldTileEntries + spareIDs)[:0]}
	}
	h.panels, h.ptr = make([]Panel, 0, heldRows), make([]int64, 0, 2*heldRows)
	h.far, h.sums = pages.Make[uint32](heldFar + spareIDs)[:0], pages.Make[float64](heldSums/8)
}

// reset forgets what is held.
func (h *held) reset() {
	for i := range h.tiles {
		h.tiles[i].reset()
	}
	h.panels, h.ptr, h.far, h.rows = h.panels[:0], h.ptr[:0], h.far[:0], 0
}

func (t *heldTile) reset() { t.ptr, t.ids = t.ptr[:0], t.ids[:0] }

// takes tells whether it pays to hold p.
func (h *held) takes(p Panel) bool {
	return p.Val == nil && p.Entries >= heldLength*(p.Hi-p.Lo) && (h.seen < heldTrial || 3*h.near >= h.seen)
}

// add adds the ids of the row in a slot.
func (t *heldTile) add(slot int, ids []uint32, base int) {
	lo, hi := len(t.ids), len(t.ids)+len(ids)
	if len(t.ptr) == 0 {
		t.first, t.ptr = slot, append(t.ptr, 0)
	}
	for t.first+len(t.ptr) <= slot {
		t.ptr = append(t.ptr, int64(lo))
	}
	t.ptr, t.ids = append(t.ptr, int64(hi)), t.ids[:hi]
	simd.Halves(t.ids[lo:], ids, uint32(base))
}

// tileRoom returns the room of a for this step and what each worker may hold, nothing
// if there is none or it would not pay.
func (f *fused[T]) tileRoom(a nearSweeper, workers, lo, hi int) (*TileRoom, []held) {
	owner, ok := a.(interface{ TileRoom() *TileRoom })
	bytes := f.width * sizeOf[T]()
	if !ok || owner.TileRoom() == nil || hi-lo < f.width || bytes < leastHeldBytes || heldSums/bytes < MaxRange/heldLength {
		return nil, nil
	}
	room := owner.TileRoom()
	return room, room.take(workers, min(mostTileColumns, sched.CacheBytes()/2/min(bytes, mostSlabBytes)))
}

// sweepHeld computes the rows of all panels of a, those of long rows tile by tile.
func (f *fused[T]) sweepHeld(ctx context.Context, workers int, a nearSweeper, near simd.Near, room []held) error {
	err := a.SweepNear(ctx, workers, near, func(worker int, p Panel, ahead *simd.Decoding) error {
		if h := &room[worker]; h.takes(p) {
			f.hold(worker, h, p)
		} else {
			f.panel(worker, p, ahead, p.Index+1, 0, f.width)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return sched.Run(ctx, workers, workers, func(_, worker int) error {
		if h := &room[worker]; len(h.panels) > 0 {
			defer sched.InRows(h.panels[0].Lo, h.panels[len(h.panels)-1].Hi)
			f.finishHeld(worker, h)
		}
		return nil
	})
}

// hold takes a panel.
func (f *fused[T]) hold(worker int, h *held, p Panel) {
	rows := p.Hi - p.Lo
	if h.rows+rows > min(heldRows, heldSums/(f.width*sizeOf[T]())) || len(h.far)+p.Entries > heldFar {
		f.finishHeld(worker, h)
	}
	clear(heldSumsOf[T](h)[h.rows*f.width:][:rows*f.width])
	ptr, far := len(h.ptr), len(h.far)
	h.ptr = append(h.ptr, int64(far))
	for i := range rows {
		col, _ := p.Row(i)
		if len(col) >= tilesPay.row {
			col = col[f.cut(h, col):]
		}
		h.far = append(h.far, col...)
		h.ptr = append(h.ptr, int64(len(h.far)))
		h.rows++
	}
	h.near, h.seen = h.near+p.Entries-(len(h.far)-far), h.seen+p.Entries
	h.panels = append(h.panels, Panel{Range: p.Range, Index: p.Index, Ptr: h.ptr[ptr:], Col: h.far[far:]})
}

// cut adds the first ids of the next row to the tiles and returns how many.
func (f *fused[T]) cut(h *held, col []uint32) int {
	var ends [heldTiles]uint32
	simd.Bounds(&ends, col, uint32(h.columns))
	lo := 0
	for i, end := range ends {
		ids := col[lo:end]
		if len(ids) < heldSegment {
			break
		}
		t := &h.tiles[i]
		if len(t.ids)+len(ids) > heldTileEntries {
			f.gatherHeld(h, i+1)
		}
		t.add(h.rows, ids, i*h.columns)
		lo = int(end)
	}
	return lo
}

func heldSumsOf[T Float](h *held) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(h.sums))), len(h.sums)*8/sizeOf[T]())
}

// gatherHeld adds what the first tiles hold to the sums. Those of the rows that they
// hold have everything that comes before.
func (f *fused[T]) gatherHeld(h *held, tiles int) {
	sums := heldSumsOf[T](h)
	for i := range h.tiles[:tiles] {
		t := &h.tiles[i]
		for lo, hi := 0, 0; lo < f.width && len(t.ids) > 0; lo = hi {
			hi = slabEnd[T](lo, f.width, slabBytes, mostSlabBytes)
			x := rowsOf(&f.source, i*h.columns, lo)
			seldom := len(t.ids) < seldomNamed(h.columns, (hi-lo)*sizeOf[T]())
			dst := simd.Rows[T]{Data: sums[t.first*f.width+lo:], Stride: f.width}
			simd.GatherSumNear(dst, hi-lo, x, t.ptr, t.ids, nil, seldom)
		}
		t.reset()
	}
}

// finishHeld computes the rows that are held and shows them to the visitor.
func (f *fused[T]) finishHeld(worker int, h *held) {
	f.gatherHeld(h, heldTiles)
	for lo, hi := 0, 0; lo < f.width; lo = hi {
		hi = slabEnd[T](lo, f.width, slabBytes, mostSlabBytes)
		near, row := simd.Rows[T]{Data: heldSumsOf[T](h)[lo:], Stride: f.width}, 0
		for _, p := range h.panels {
			end := row + p.Hi - p.Lo
			f.slab(&f.worker[worker], &gathering[T]{p: p, slot: heldSlots[row:end], near: near, lo: lo, hi: hi})
			if row = end; hi == f.width {
				f.visit(worker, p.Index, p.Index+1)
			}
		}
	}
	h.reset()
}

// heldSlots are slots of rows one after the other.
var heldSlots = func() (slots [heldRows]int32) {
	for i := range slots {
		slots[i] = int32(i)
	}
	return slots
}()
