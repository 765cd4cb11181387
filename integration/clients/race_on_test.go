//go:build race

package clients

// raceEnabled: the program is built with the race detector when the tests are.
const raceEnabled = true
