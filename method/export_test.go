package method

// Smoothed puts Correct & Smooth around a method.
func Smoothed(m Method) Method { return weighing{smoothedMethod{m}} }
