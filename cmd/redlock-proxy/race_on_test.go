//go:build race

package main

// instrumented: the race detector takes memory of its own.
const instrumented = true
