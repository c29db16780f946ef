package test

// Kernels and learners of the papers are tested like those of the core.
import _ "github.com/heatwalk/heatwalk/papers"
