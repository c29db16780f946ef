package nodefile

import "github.com/heatwalk/heatwalk/internal/textio"

// ParseError is something wrong with the content of a file, or with the choice of it
// ([ErrInput]): its File, Line and Column from 1 (or, where AtByte is set, Byte from 0), as
// far as they are known, Msg, what is wrong, and Fix, the way out, which may be empty. It
// wraps Err. All packages that read files return it.
type ParseError = textio.Error

// ErrInput is wrapped by a [*ParseError] about a wrong choice of inputs or options, found
// before any data was used. Its File is the input or the option, or "".
var ErrInput = textio.ErrInput
