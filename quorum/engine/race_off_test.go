//go:build !race

package engine

const instrumented = false
