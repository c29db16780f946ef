package test

// The kernels and learners of the papers are tested like kernels and learners of the core.
import _ "github.com/heatwalk/heatwalk/papers"
