package integration

import "testing"

func TestPortsThatWereGivenAreGivenToNoOtherProcess(t *testing.T) {
	t.Parallel()
	port, err := FreePort()
	must(t, err)
	if first := port - (port-lowestPort)%portsClaimed; free(first) {
		t.Errorf("port %d was given, and nobody listens on %d, so that others may be given it too", port, first)
	}
}
