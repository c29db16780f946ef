package report

import (
	"bytes"
	"encoding/json"
	"errors"
)

// notFinite replaces a number that is not finite while it is encoded. It has the same text as a float32.
const notFinite = -7.040404e-38

// Encode returns a document as JSON. JSON has no infinite numbers and no NaN: those in fields and lists of a
// document that is passed by its address become null; elsewhere they are an error.
func Encode(document any) ([]byte, error) {
	for {
		var text bytes.Buffer
		e := json.NewEncoder(&text)
		e.SetEscapeHTML(false)
		err := e.Encode(document)
		unsupported := new(json.UnsupportedValueError)
		if !errors.As(err, &unsupported) || !unsupported.Value.CanSet() ||
			!unsupported.Value.CanFloat() {
			return bytes.ReplaceAll(text.Bytes(), []byte("-7.040404e-38"),
				[]byte("null")), err
		}
		defer unsupported.Value.SetFloat(unsupported.Value.Float())
		unsupported.Value.SetFloat(notFinite)
	}
}
