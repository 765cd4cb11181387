package members

import (
	"errors"
	"net"
	"strings"
	"testing"

	"redlock-proxy/quorum/marker"
	"redlock-proxy/quorum/master"
)

// What could not be taken back is still marked by the order.
func TestBootstrapTellsOfWhatItCouldNotTakeBack(t *testing.T) {
	ours, theirs := net.Pipe()
	theirs.Close()
	lost := &member{name: "m1", stage: isMarked, gate: master.NewGate(ours), steps: []string{"step"}}
	never := &member{name: "m2"}
	marks := []marker.Marker{{Nonce: marker.NewNonce(true), First: true, Loss: "step"}}
	err := withdrawAll([]*member{lost, never}, []found{{name: "m1", marks: marks}, {name: "m2"}}, errors.New("m3 is another set's"))
	if told := err.Error(); !strings.HasSuffix(told, "of these: m1") {
		t.Errorf("it says %q", told)
	}
	if told := soFar([]*member{lost, never}); !strings.Contains(told, "these are marked, and may not vote yet: m1; these are not marked: m2") {
		t.Errorf("it says %q", told)
	}
}
