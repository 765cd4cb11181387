//go:build !race

package proxy

const instrumented = false
