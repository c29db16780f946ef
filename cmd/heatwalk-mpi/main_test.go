package main

import (
	"os"
	"testing"
)

// TestMain runs the command in the processes that tests start.
func TestMain(m *testing.M) {
	if os.Getenv("HEATWALK_TEST_MAIN") != "" {
		main()
	}
	os.Exit(m.Run())
}
