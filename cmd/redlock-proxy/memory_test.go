package main

import (
	"net"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// residentBytes is what a process occupies, 0 where that is not known.
func residentBytes(pid int) int {
	status, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	m := regexp.MustCompile(`(?m)^VmRSS:\s*(\d+) kB`).FindSubmatch(status)
	if m == nil {
		return 0
	}
	kib, _ := strconv.Atoi(string(m[1]))
	return kib << 10
}

// Clients that each send most of a long command are more than the process may hold.
func TestClientsDoNotHaveTheProcessGrowWithoutBound(t *testing.T) {
	const most = 64 << 20
	p := startProgram(t, nil, "--listen", "127.0.0.1:0", "--max-client-memory", strconv.Itoa(most))
	address := p.await(`listening: address=(\S+)`)
	p.await(`every master has been tried`)
	if residentBytes(p.cmd.Process.Pid) == 0 {
		t.Skip("this system does not tell what a process occupies")
	}
	bystander := endpoint{network: "tcp", address: address}
	peak := 0
	for range 150 {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conn.SetDeadline(time.Now().Add(patience))
		conn.Write([]byte("*2\r\n$4\r\nECHO\r\n$1048576\r\n" + strings.Repeat("x", 1<<20-1))) // or it is cut off meanwhile
		peak = max(peak, residentBytes(p.cmd.Process.Pid))
	}
	if reply, err := bystander.ask(patience, "PING"); err != nil || reply != "PONG" {
		t.Errorf("PING: %q, %v", reply, err)
	}
	if limit := most/4*5 + 32<<20; peak > limit && !instrumented {
		t.Errorf("the process took %d bytes, want at most %d", peak, limit)
	}
	p.await(`a client is cut off: all clients take too much memory, and it takes most: id=\d+ addr=\S+ bytes=\d+ query=\d+ asked=0 replies=0 max_client_memory=(67108864)`)
}
