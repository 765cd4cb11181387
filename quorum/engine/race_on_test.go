//go:build race

package engine

const instrumented = true
