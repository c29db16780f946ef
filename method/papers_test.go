package method

// The kernels and learners of the papers are tested as the core is.
import (
	_ "github.com/heatwalk/heatwalk/papers"
)
