package table

// Dictionary numbers the distinct values of a column in order of first appearance.
type Dictionary struct {
	Values []string // values by code
	code   map[string]int32
}

// Code returns the code of a value, and the bytes that the value needs if it is new.
func (d *Dictionary) Code(text []byte) (code int32, bytes int64) {
	code, hasCode := d.code[string(text)]
	if hasCode {
		return code, 0
	}
	if d.code == nil {
		d.code = map[string]int32{}
	}
	const entry = 100 // bytes of an entry of a map and a list, while they grow
	code = int32(len(d.Values))
	value := string(text)
	d.Values = append(d.Values, value)
	d.code[value] = code
	return code, entry + int64(len(value))
}
