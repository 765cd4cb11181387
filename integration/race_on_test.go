//go:build race

package integration

// raceEnabled: the proxy is built with the race detector if the tests are.
const raceEnabled = true
