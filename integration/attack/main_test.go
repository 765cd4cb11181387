package main

import (
	"os"
	"testing"
)

// TestMain: the tests' program starts itself as an attacker, too.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == asAttacker {
		os.Exit(attackerMain(os.Args[2:]))
	}
	os.Exit(m.Run())
}
