package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/input"
	"github.com/heatwalk/heatwalk/internal/system"
)

// Closing is what every JSON document ends with.
type Closing struct {
	Seconds         float64 `json:"seconds"`
	PeakMemoryBytes int64   `json:"peak_memory_bytes"`

	Warnings []string `json:"warnings,omitempty"` // all that were printed
}

func (in *invocation) closing() Closing {
	in.warning.Lock()
	defer in.warning.Unlock()
	return Closing{Seconds: time.Since(in.started).Seconds(), PeakMemoryBytes: system.PeakMemory(), Warnings: slices.Clone(in.warnings)}
}

// document is what a command tells with --json.
type document interface{ closeWith(c Closing) }

func (c *Closing) closeWith(now Closing) { *c = now }

// tell prints the result of a command that wrote the given outputs: v with --json, else
// what text writes where the closing summary goes.
func (in *invocation) tell(v document, text func(w io.Writer), outputs ...string) error {
	if in.json {
		v.closeWith(in.closing())
		return in.document(v)
	}
	text(in.summary(outputs...))
	return in.stdout.err
}

// document prints v, a command's whole result, as the one JSON document on
// stdout.
func (in *invocation) document(v any) error {
	in.progress.Close()
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return encode(in.stdout, closingLast(text))
}

// closingLast returns a document with seconds, peak memory and warnings at the end. The JSON
// package writes the fields of an embedded struct where that is declared, which may be before
// other fields.
func closingLast(document []byte) json.RawMessage {
	fields := json.NewDecoder(bytes.NewReader(document))
	if t, err := fields.Token(); err != nil || t != json.Delim('{') {
		return document
	}
	var first, last []string
	for fields.More() {
		name, _ := fields.Token()
		var value json.RawMessage
		if err := fields.Decode(&value); err != nil {
			return document
		}
		key, _ := json.Marshal(name)
		field := string(key) + ":" + string(value)
		switch name {
		case "seconds", "peak_memory_bytes", "warnings":
			last = append(last, field)
		default:
			first = append(first, field)
		}
	}
	return json.RawMessage("{" + strings.Join(append(first, last...), ",") + "}")
}

// encode writes v as JSON for people.
func encode(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// summary returns where the closing summary goes: stdout, or stderr if stdout
// carries the command's output, or nowhere.
func (in *invocation) summary(outputs ...string) io.Writer {
	in.progress.Close()
	if in.quiet || in.json {
		return io.Discard
	}
	if slices.Contains(outputs, "-") {
		return escaped{in.stderr}
	}
	return escaped{in.stdout}
}

// escaped is a writer of whole pieces of text that is safe on a terminal, whatever the text
// has from files, for example names of classes.
type escaped struct{ w io.Writer }

// Write implements [io.Writer].
func (e escaped) Write(p []byte) (int, error) {
	if _, err := io.WriteString(e.w, input.Escape(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// cost says what the run took, "24.1 s, peak 412 MB", or nothing with --quiet.
func (in *invocation) cost() string {
	if in.quiet {
		return ""
	}
	return fmt.Sprintf("%s, peak %s", words.Seconds(time.Since(in.started)), words.Bytes(system.PeakMemory()))
}

// sheet writes lines of a name in so many columns and a text, but for those without a text.
func sheet(w io.Writer, columns int, lines [][2]string) {
	for _, line := range lines {
		if line[1] != "" {
			fmt.Fprintf(w, "%-*s %s\n", columns, line[0], line[1])
		}
	}
}
