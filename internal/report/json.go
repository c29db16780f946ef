package report

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
)

// notFinite stands for a number that is not finite during encoding. It is encoded as the same text as float32 and as
// float64.
const notFinite = -7.040404e-38

// Encode returns a document as JSON. JSON has no NaN and no infinite numbers: such numbers in fields and lists become
// null if document is a pointer. Elsewhere they are an error.
func Encode(document any) ([]byte, error) {
	var restore []func()
	defer func() {
		for _, f := range restore {
			f()
		}
	}()
	replaceNotFinite(reflect.ValueOf(document), &restore)
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	err := e.Encode(document)
	return bytes.ReplaceAll(text.Bytes(), []byte("-7.040404e-38"), []byte("null")), err
}

// replaceNotFinite replaces NaN and infinite numbers in fields and lists of v by notFinite, and appends functions that
// restore them to restore. It skips fields that are not encoded and values that encode themselves, because they may
// lead to a whole graph.
func replaceNotFinite(v reflect.Value, restore *[]func()) {
	if v.IsValid() && reflect.PointerTo(v.Type()).Implements(reflect.TypeFor[json.Marshaler]()) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		replaceNotFinite(v.Elem(), restore)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); (f.IsExported() || f.Anonymous) && f.Tag.Get("json") != "-" {
				replaceNotFinite(v.Field(i), restore)
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			replaceNotFinite(v.Index(i), restore)
		}
	case reflect.Float32, reflect.Float64:
		if x := v.Float(); v.CanSet() && (math.IsNaN(x) || math.IsInf(x, 0)) {
			*restore = append(*restore, func() { v.SetFloat(x) })
			v.SetFloat(notFinite)
		}
	}
}
