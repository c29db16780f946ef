package method

// The kernels and learners of the papers are tested as those of the core.
import (
	_ "github.com/heatwalk/heatwalk/papers"
)
