package nodefile

import "github.com/heatwalk/heatwalk/file/input"

// ParseError is [input.Error], the error of all packages that read files.
type ParseError = input.Error

// ErrInput is [input.ErrInput].
var ErrInput = input.ErrInput
