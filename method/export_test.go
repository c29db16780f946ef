package method

// Smoothed puts Correct & Smooth around a method.
func Smoothed(m *Engine) *Engine { return addSmoothing(m) }
