package proxy

import (
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"
	"time"
)

const holdEnv = "PROXY_TEST_HOLD"

// TestMain lets the test's own program hold the other ends of many
// connections, so that they do not count in the memory of the server.
func TestMain(m *testing.M) {
	if addr := os.Getenv(holdEnv); addr != "" {
		hold(addr)
		return
	}
	os.Exit(m.Run())
}

// hold opens as many connections as its environment says, each of which
// took a lock once, and keeps them until its input ends.
func hold(addr string) {
	n, _ := strconv.Atoi(os.Getenv(holdEnv + "_N"))
	conns := make([]net.Conn, n)
	for i := range conns {
		nc, err := net.Dial("tcp", addr)
		if err != nil {
			println(err.Error())
			os.Exit(1)
		}
		nc.Write([]byte("*6\r\n$3\r\nSET\r\n$8\r\nlock:abc\r\n$3\r\nt-1\r\n$2\r\nNX\r\n$2\r\nPX\r\n$5\r\n30000\r\n*1\r\n$4\r\nPING\r\n"))
		conns[i] = nc
	}
	os.Stdin.Read(make([]byte, 1))
	runtime.KeepAlive(conns)
}

func TestIdleConnectionsAreSmall(t *testing.T) {
	most := 8 << 10
	if instrumented {
		most *= 2
	}
	count := 2000
	if text := os.Getenv("PROXY_TEST_IDLE"); text != "" {
		count, _ = strconv.Atoi(text)
	}
	r := newRig(t, Config{MaxClients: count})
	r.engine.auto = answerLater(10 * time.Microsecond)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.serve(ln)
	before := memory()

	holder := exec.Command(os.Args[0])
	holder.Env = append(os.Environ(), holdEnv+"="+ln.Addr().String(), holdEnv+"_N="+strconv.Itoa(count))
	input, err := holder.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	holder.Stderr = os.Stderr
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	defer holder.Wait()
	defer input.Close()
	eventually(t, "all commands are carried out", func() bool {
		return r.server.stats.processed() == uint64(2*count)
	})
	each := (memory() - before) / count
	t.Logf("%d connections, %d bytes each, goroutines %d", count, each, runtime.NumGoroutine())
	if each > most {
		t.Errorf("%d bytes for each idle connection, want at most %d", each, most)
	}
}

// memory is what is in use after the collector has shrunk what it can.
func memory() int {
	var m runtime.MemStats
	for range 4 {
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc + m.StackInuse)
}
