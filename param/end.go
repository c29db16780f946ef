package param

import "strconv"

// End writes an end of a range for the message that rejects a value beyond it: with the given number
// of digits, or with more if the written range would contain the rejected value. An open range does
// not contain its end. For example, an end of 0.10999 is written 0.11 where 0.12 is rejected, and
// 0.10999 where 0.11 is.
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
