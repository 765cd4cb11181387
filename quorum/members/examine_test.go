package members

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum/doctor"
	"redlock-proxy/quorum/master"
)

// A server that lets nobody in says why before it hangs up, and that is what the doctor hears. One
// that says nothing is given up.
func TestWhyAServerCannotBeAskedIsKnown(t *testing.T) {
	for says, want := range map[string]string{
		"-DENIED Redis is running in protected mode\r\n": "DENIED Redis is running",
		"HTTP/1.1 400 Bad Request\r\n":                   "",
		"":                                               "timeout",
	} {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			conn.Write([]byte(says))
			if says == "" {
				conn.Read(make([]byte, 1<<10))
				conn.Read(make([]byte, 1)) // until it is given up
			}
			conn.Close()
		}()
		set := &master.Set{Masters: []master.Master{{Name: "m", Network: "tcp", Address: ln.Addr().String()}},
			ConnectTimeout: 5 * time.Second, MasterTimeout: 50 * time.Millisecond}
		found := Examine(context.Background(), set)
		if len(found) != 1 || found[0].Away == "" || !strings.Contains(found[0].Away, want) {
			t.Errorf("%q: %+v", says, found)
		}
		judged := doctor.Judge(&doctor.Facts{Masters: found})
		if doctor.Worst(judged) != doctor.Breaks {
			t.Errorf("%q: %+v", says, judged)
		}
		ln.Close()
		<-ended
	}
}
