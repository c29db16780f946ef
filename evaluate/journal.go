package evaluate

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"github.com/heatwalk/heatwalk/internal/checkpoint"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/sparse"
)

// Journal is a file with the measurements of a run so far, from which a run that was killed
// goes on; parameters of a method whose splits are not complete are chosen again. [Run] replaces
// it, whole or not at all, after splits. It names the
// run that it belongs to and has a checksum of its own, so that a damaged file, or one of
// another run, is refused with a [*FileError].
type Journal struct {
	Path    string
	Version string // of the program; a run is taken up by the same version alone
	Resume  bool   // go on from the file, if there is one, instead of from the start
	Kept    bool   // [Run] holds something in it that a run could go on from

	run     checkpoint.Run
	records []*record // by training size and method
	next    time.Time // when the journal is written again, at the earliest
}

// record holds the measurements of one method at one training size.
type record struct {
	Result   Result    `json:"result"`   // complete, or sums over the splits so far
	Outcomes []outcome `json:"outcomes"` // of the splits so far
	Complete bool      `json:"complete"`
}

// FileError reports why a run cannot go on from a journal.
type FileError = checkpoint.Error

// begin computes the fingerprint of the run and, if it is resumed, reads the journal.
func (j *Journal) begin(ctx context.Context, p *method.Problem, plan *Plan, set *method.Settings) (err error) {
	j.run = checkpoint.Run{Version: j.Version, Labels: checkpoint.ListSum(p.Names, p.Row, p.Class), Options: optionSum(p, plan, set)}
	if p.Graph != nil {
		if j.run.Graph, err = checkpoint.GraphSum(ctx, p.A, set.Workers); err != nil {
			return err
		}
	}
	if !j.Resume {
		return nil
	}
	if err := checkpoint.Read(j.Path, j.run, &j.records); err != nil {
		return err
	}
	for _, r := range j.records {
		if string(r.Result.Parameters) == "null" {
			r.Result.Parameters = nil
		}
	}
	return nil
}

// at returns record number i, which is new if the journal ends before it. Without a
// journal it is new and kept nowhere.
func (j *Journal) at(i int, fresh *record) *record {
	if j == nil {
		return fresh
	}
	if i == len(j.records) {
		j.records = append(j.records, fresh)
	}
	return j.records[i]
}

// save writes the journal if it holds something and was not written just now, or at once
// at the end of a run that fails.
func (j *Journal) save(end bool) error {
	start := time.Now()
	if j == nil {
		return nil
	}
	j.Kept = slices.ContainsFunc(j.records, func(r *record) bool { return len(r.Outcomes) > 0 })
	if !j.Kept || !end && start.Before(j.next) {
		return nil
	}
	if err := checkpoint.Write(j.Path, j.run, j.records); err != nil {
		return err
	}
	j.next = time.Now().Add(max(100*time.Millisecond, checkpoint.Rest*time.Since(start)))
	return nil
}

// Remove removes the journal of a run whose report is in place.
func (j *Journal) Remove() error { return checkpoint.Remove(j.Path) }

// sumOf returns a checksum of bytes.
func sumOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// optionSum returns a checksum of all parts of a plan that change results: the memory limit and
// the number of workers do not.
func optionSum(p *method.Problem, plan *Plan, set *method.Settings) string {
	options := *plan
	options.Methods, options.Settings, options.Journal = nil, nil, nil
	type named struct {
		Name     string
		Settings method.Settings
		Prior    string
	}
	var entries []named
	for _, m := range plan.entries(set) {
		s := *m.Settings
		prior := s.Prior.Given
		s.Memory, s.Workers, s.Prior.Given = 0, 0, nil
		entries = append(entries, named{m.Name, s, checkpoint.BlockSum(prior)})
	}
	text, err := json.Marshal(struct {
		Plan       Plan
		Methods    []named
		Attributes string
	}{options, entries, attributeSum(p.Attributes)})
	if err != nil {
		panic(err) // numbers and strings can be written
	}
	return sumOf(text)
}

// attributeSum returns a checksum of attributes, "" if there are none.
func attributeSum(t *sparse.Table) string {
	if t == nil {
		return ""
	}
	h, rows := sha256.New(), t.Reader()
	for v := range t.Rows {
		columns, values := rows.Row(v)
		for _, block := range []any{int64(len(values)), columns, values} {
			_ = binary.Write(h, binary.LittleEndian, block) // writes to a hash do not fail
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
