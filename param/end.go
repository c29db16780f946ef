package param

import "strconv"

// End returns the text of end, an end of a range, for the message that rejects the value refused. The text has the given
// number of digits. It has more if a range with the rounded end would contain refused. If open is set, the range does not
// contain its end. For example, the end 0.10999 becomes 0.11 if 0.12 is rejected, but 0.10999 if 0.11 is rejected.
func End(end, refused float64, open bool, digits int) string {
	for ; ; digits++ {
		text := strconv.FormatFloat(end, 'g', digits, 64)
		written, err := strconv.ParseFloat(text, 64)
		contains := end <= refused && written > refused ||
			end >= refused && written < refused || written == refused && !open
		if err != nil || digits >= 17 || !contains {
			return text
		}
	}
}
