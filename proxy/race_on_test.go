//go:build race

package proxy

// instrumented: the race detector makes every stack larger.
const instrumented = true
