package main

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if os.Getenv("HEATWALK_TEST_MAIN") != "" {
		main()
	}
	os.Exit(m.Run())
}
