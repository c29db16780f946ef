package sparse

import "github.com/heatwalk/heatwalk/budget"

// ErrMemory is wrapped by the error of every package that refuses to exceed a limit on memory. The text of the error
// states the required bytes.
var ErrMemory = budget.ErrMemory
