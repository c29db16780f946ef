package agreetest_test

// The kernels and learners of the papers agree as those of the core do.
import _ "github.com/heatwalk/heatwalk/papers"
