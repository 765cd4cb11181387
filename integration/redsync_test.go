package integration

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestRedsyncLosesNoUpdateWhileAMasterDies: a client library that knows nothing
// of the proxy guards a counter through it.
func TestRedsyncLosesNoUpdateWhileAMasterDies(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "redsync")
	build := exec.Command("go", "build", "-o", path, ".")
	build.Dir = "redsync"
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the redsync program: %v\n%s", err, out)
	}
	masters, p := startQuorum(t, 3)

	const during = 10 * time.Second
	contenders, err := startChild(path, nil, "-addr", p.Addr, "-contenders", "50", "-during", fmt.Sprint(during))
	must(t, err)
	t.Cleanup(func() { must(t, contenders.Kill()) })
	time.Sleep(during / 2)
	must(t, masters[1].Kill())
	code, err := contenders.Wait(during + patience)
	must(t, err)
	t.Log(contenders.Log())
	if code != 0 {
		t.Fatalf("the redsync program ended with exit code %d", code)
	}
}
