package shard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/internal/durable"
)

// Version is the format of stores with attributes. codedVersion is the format of other stores whose entries have codes
// or negative values, and plainVersion the format of all other stores. This package reads all three formats.
const (
	Version      = 3
	codedVersion = 2
	plainVersion = 1
)

// Manifest is the content of the file that makes a directory a store.
type Manifest struct {
	Kind       string            `json:"heatwalk"`           // "store"
	Format     int               `json:"format"`             // 1, 2 if entries have codes or signs, 3 with attributes
	Identity   string            `json:"identity"`           // 16 hex digits
	Rows       int64             `json:"rows"`               // nodes
	Entries    int64             `json:"entries"`            // stored entries of one direction
	SelfLoops  int64             `json:"self_loops"`         // entries on the diagonal
	Directed   bool              `json:"directed"`           // both directions are stored
	Weighted   bool              `json:"weighted"`           // some entry is not 1
	Negative   int64             `json:"negative,omitempty"` // stored entries of one direction that are below 0
	Kinds      []Kind            `json:"kinds,omitempty"`    // kinds of the entries, in the order of their codes
	Times      *Times            `json:"times,omitempty"`
	Nodes      string            `json:"nodes"`           // "implicit", "numeric" or "string"
	Order      string            `json:"order,omitempty"` // name of the order of the rows; "" for the default order
	Attributes *Attributes       `json:"attributes,omitempty"`
	Codec      string            `json:"codec"`
	Frames     [2]int64          `json:"frames"`               // number of frames of the out direction and of the in direction
	Options    map[string]string `json:"options,omitempty"`    // how the input was read
	Sources    []File            `json:"provenance,omitempty"` // the inputs
	Files      []File            `json:"files"`                // all other files
	Checksum   string            `json:"checksum"`             // CRC-32C of this file with these digits zero
}

// File is an input of a store, or a file of a store.
type File struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`            // length; of an input before decompression
	CRC   string `json:"crc32c,omitempty"` // 8 hex digits; every file of the store has it
	Lines int64  `json:"lines,omitempty"`  // number of lines of an input
}

// Attributes describes the attributes of the nodes: a .npy file with a row for each row of the store.
type Attributes struct {
	Name    string `json:"name"` // name of the input
	Columns int    `json:"columns"`
	Type    string `json:"type"` // type of the elements, as in NumPy
}

// Edges returns the number of edges. A directed graph has an edge for each entry, an undirected graph for each pair; it
// stores a self loop once.
func (m *Manifest) Edges() int64 {
	if m.Directed {
		return m.Entries
	}
	return (m.Entries + m.SelfLoops) / 2
}

func (m *Manifest) size() int64 {
	var sum int64
	for _, f := range m.shards() {
		sum += f.Bytes
	}
	return sum
}

// BytesTotal returns the size of all files that the manifest lists.
func (m *Manifest) BytesTotal() int64 {
	var sum int64
	for _, f := range m.Files {
		sum += f.Bytes
	}
	return sum
}

// BitsPerEntry returns the bits of the shard files for each stored entry, of both directions for a directed graph. It
// returns 0 if there are no entries.
func (m *Manifest) BitsPerEntry() float64 {
	stored := m.Entries
	if m.Directed {
		stored *= 2
	}
	if stored == 0 {
		return 0
	}
	return 8 * float64(m.size()) / float64(stored)
}

// Every version of the format has the same beginning and end of the manifest, so that any program can distinguish
// damage from an unknown version.
const (
	manifestHead = "{\n  \"heatwalk\": \"store\",\n  \"format\": "
	manifestTail = "\"\n}\n"
	sumDigits    = 8
	zeroSum      = "00000000"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func sumText(sum uint32) string {
	return fmt.Sprintf("%08x", sum)
}

// encode returns the text of the manifest, and sets its checksum.
func (m *Manifest) encode() ([]byte, error) {
	m.Kind, m.Format, m.Checksum = "store", m.version(), zeroSum
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	_ = enc.Encode(m)
	b := buf.Bytes()
	if len(b) > maxManifest {
		return nil, fmt.Errorf("shard: the manifest would take %d bytes, limit %d; join the inputs into fewer files", len(b), maxManifest)
	}
	m.Checksum = sumText(crc32.Checksum(b, castagnoli))
	copy(b[len(b)-len(manifestTail)-sumDigits:], m.Checksum)
	return b, nil
}

// maxManifest is the largest number of bytes of a manifest, which is read whole. The manifest of 50,000 shards or
// inputs is smaller.
const maxManifest = 8 << 20

// readManifest reads and checks the manifest of the store in dir, and no other file. The error wraps [ErrNotStore] or
// [ErrVersion], or is a [*CorruptError].
func readManifest(fsys durable.FS, dir string) (*Manifest, error) {
	path := filepath.Join(dir, manifestName)
	b, err := readFile(fsys, path, maxManifest)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, missingManifest(fsys, dir)
	case errors.Is(err, errDirectory):
		return nil, failf(ErrNotStore,
			"%s: a directory, not the manifest of a heatwalk store; name a store", path)
	case err != nil:
		return nil, err
	}
	return parseManifest(dir, b)
}

func missingManifest(fsys durable.FS, dir string) error {
	names, err := fsys.List(dir)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(names, ownName) {
		return failf(ErrIncomplete,
			"%s: no manifest; the ingest never finished, run it again", dir)
	}
	return failf(ErrNotStore,
		"%s: a directory without a manifest, which is no heatwalk store; name a store, or the files in it", dir)
}

// parseManifest parses the manifest of the store in dir. It checks the beginning, the end and the checksum before the
// version, because they have the same form in all versions.
func parseManifest(dir string, b []byte) (*Manifest, error) {
	path := filepath.Join(dir, manifestName)
	unreadable := func(what string) error { return &CorruptError{Path: path, Offset: -1, What: what} }
	const edited = "checksum wrong; do not edit, ingest again"
	if !bytes.HasPrefix(b, []byte(manifestHead)) {
		if bytes.Contains(b[:min(len(b), 256)], []byte("heatwalk")) {
			return nil, unreadable(edited)
		}
		return nil, failf(ErrNotStore,
			"%s: not the manifest of a heatwalk store; restore the file or ingest again", path)
	}
	sumOffset := len(b) - len(manifestTail) - sumDigits
	if sumOffset < len(manifestHead) ||
		string(b[sumOffset+sumDigits:]) != manifestTail {
		return nil, unreadable("cut short or changed; ingest again")
	}
	zeroed := bytes.Clone(b)
	copy(zeroed[sumOffset:], zeroSum)
	if sumText(crc32.Checksum(zeroed,
		castagnoli)) != string(b[sumOffset:sumOffset+sumDigits]) {
		return nil, unreadable(edited)
	}
	format, _, _ := strings.Cut(string(b[len(manifestHead):]), ",")
	// A version of more than 64 bits is newer, too.
	if v, err := strconv.ParseUint(format, 10, 64); (err == nil ||
		errors.Is(err, strconv.ErrRange)) && (v < plainVersion || v > Version) {
		hint := "update heatwalk"
		if v < plainVersion {
			hint = "ingest again"
		}
		return nil, failf(ErrVersion,
			"%s: format %s; this heatwalk reads %d to %d; %s", dir, format,
			plainVersion, Version, hint)
	}
	m := new(Manifest)
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(m); err != nil {
		return nil, newDamage(path, "%v", err)
	}
	if m.Codec == zstdCodec {
		return nil, failf(ErrVersion,
			"%s: frames compressed by zstd, which only releases before this one read; ingest the edges again, "+
				"or write them with such a release: heatwalk convert %s -o edges.tsv", dir, dir)
	}
	if what := m.problem(); what != "" {
		return nil, newDamage(path, "%s", what)
	}
	return m, nil
}

// problem describes a contradiction in a manifest whose checksum is right. It returns "" if there is none.
func (m *Manifest) problem() string {
	id, err := strconv.ParseUint(m.Identity, 16, 64)
	switch {
	case m.Kind != "store" || m.Format != m.version():
		return fmt.Sprintf("%s, format %d", m.Kind, m.Format)
	case err != nil || fmt.Sprintf("%016x", id) != m.Identity:
		return fmt.Sprintf("identity %q", m.Identity)
	case m.Rows < 0 || m.Rows > maxRows:
		return fmt.Sprintf("%d rows", m.Rows)
	case m.Entries < 0 || m.SelfLoops < 0 || m.SelfLoops > m.Entries ||
		!m.HasCodes() && m.SelfLoops > m.Rows:
		return fmt.Sprintf("%d entries, %d self loops", m.Entries, m.SelfLoops)
	case m.Negative < 0 || m.Negative > m.Entries:
		return fmt.Sprintf("%d negative of %d entries", m.Negative, m.Entries)
	case m.Codec != fourWidths:
		return fmt.Sprintf("codec %q", m.Codec)
	case m.Frames[0] < 0 || m.Frames[1] < 0 || !m.Directed && m.Frames[1] != 0:
		return fmt.Sprintf("%d and %d frames", m.Frames[0], m.Frames[1])
	}
	if wrong := m.wrongCodes(); wrong != "" {
		return wrong
	}
	want := []string{fileName(id, indexEnding), fileName(id, degreesEnding)}
	switch m.Nodes {
	case nodesNumeric, nodesString:
		want = append(want, fileName(id, nodesEnding))
	case nodesImplicit:
	default:
		return fmt.Sprintf("nodes %q", m.Nodes)
	}
	if m.Order != "" {
		want = append(want, fileName(id, orderEnding))
	}
	if m.Attributes != nil {
		want = append(want, fileName(id, attributesEnding))
	}
	if len(m.Files) < len(want) {
		return "file missing from the list"
	}
	shards := len(m.Files) - len(want)
	for i, f := range m.Files {
		name := ""
		if i < shards {
			name = shardName(id, i)
		} else {
			name = want[i-shards]
		}
		if f.Name != name {
			return fmt.Sprintf("file %d is called %q, want %q", i, f.Name, name)
		}
		sum, _ := strconv.ParseUint(f.CRC, 16, 32) // an invalid text differs from the computed checksum
		if sumText(uint32(sum)) != f.CRC || f.Bytes < 0 {
			return fmt.Sprintf("%s: %d bytes, checksum %q", f.Name, f.Bytes, f.CRC)
		}
	}
	return ""
}

func (m *Manifest) identity() uint64 {
	id, _ := strconv.ParseUint(m.Identity, 16, 64)
	return id
}

func (m *Manifest) leastNodeBytes() (bytes int64) {
	switch m.Nodes {
	case nodesNumeric:
		bytes = 4 * m.Rows
	case nodesString: // ends and text; lengths and order take less in the file
		bytes = 8 * m.Rows
		for _, f := range m.Files {
			if f.Name == fileName(m.identity(), nodesEnding) {
				bytes = max(bytes, f.Bytes)
			}
		}
	}
	if m.Order != "" {
		bytes += 8 * m.Rows
	}
	return bytes
}

func (m *Manifest) shards() []File {
	n := 0
	for n < len(m.Files) && filepath.Ext(m.Files[n].Name) == ".shard" {
		n++
	}
	return m.Files[:n]
}

var errDirectory = errors.New("a directory")

func readFile(fsys durable.FS, path string, limit int64) ([]byte, error) {
	// Opening a pipe without a writer would block.
	switch info, err := fsys.Stat(path); {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, errDirectory
	case !info.Mode().IsRegular():
		return nil, newDamage(path, "a pipe or a device, not a regular file")
	}
	f, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > limit {
		return nil, newDamage(path, "%d bytes, at most %d are possible",
			info.Size(), limit)
	}
	b := make([]byte, info.Size())
	if n, err := f.ReadAt(b, 0); n < len(b) {
		return nil, err
	}
	return b, nil
}
