package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"reflect"
)

// notFinite replaces a number that is not finite until it becomes null. It has the same text as a float32.
const notFinite = -7.040404e-38

// Encode returns a document as JSON. JSON has no infinite numbers and no NaN: they become null.
func Encode(document any) ([]byte, error) {
	text, err := encode(document)
	if unsupported := new(json.UnsupportedValueError); !errors.As(err, &unsupported) {
		return text, err
	}
	marked := reflect.New(reflect.TypeOf(document)).Elem()
	marked.Set(reflect.ValueOf(document))
	markNumbers(marked)
	if text, err = encode(marked.Interface()); err != nil {
		return nil, err
	}
	mark, err := json.Marshal(notFinite)
	return bytes.ReplaceAll(text, mark, []byte("null")), err
}

// encode returns a document as JSON without references in place of <, > and &.
func encode(document any) ([]byte, error) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	err := e.Encode(document)
	return text.Bytes(), err
}

// markNumbers replaces the numbers of a variable that are not finite. Values that others share are copied before.
func markNumbers(v reflect.Value) {
	if !v.CanSet() && v.Kind() != reflect.Struct { // a field that is not exported, or embedded ones
		return
	}
	switch v.Kind() {
	case reflect.Float32, reflect.Float64:
		if f := v.Float(); math.IsInf(f, 0) || math.IsNaN(f) {
			v.SetFloat(notFinite)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			markNumbers(v.Field(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			markNumbers(v.Index(i))
		}
	case reflect.Slice:
		if v.IsNil() {
			return
		}
		list := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(list, v)
		for i := range v.Len() {
			markNumbers(list.Index(i))
		}
		v.Set(list)
	case reflect.Map:
		if v.IsNil() {
			return
		}
		table := reflect.MakeMap(v.Type())
		for _, key := range v.MapKeys() {
			table.SetMapIndex(key, markCopy(v.MapIndex(key)))
		}
		v.Set(table)
	case reflect.Interface:
		if !v.IsNil() {
			v.Set(markCopy(v.Elem()))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			v.Set(markCopy(v.Elem()).Addr())
		}
	}
}

// markCopy returns a copy of a value with marked numbers.
func markCopy(v reflect.Value) reflect.Value {
	value := reflect.New(v.Type()).Elem()
	value.Set(v)
	markNumbers(value)
	return value
}
