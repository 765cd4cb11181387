package members

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
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

// A server that is far is asked for all markers at once: this one answers none before it was asked
// for all.
func TestMarkersTakeOneRoundTrip(t *testing.T) {
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
		defer conn.Close()
		selected := 0
		for lines := bufio.NewScanner(conn); lines.Scan(); {
			switch strings.ToUpper(lines.Text()) {
			case "INFO":
				conn.Write([]byte("$10\r\nrun_id:r\r\n\r\n"))
			case "TIME", "PUBSUB", "CONFIG", "PING":
				conn.Write([]byte("*0\r\n"))
			case "SELECT":
				if selected++; selected == quorum.Databases {
					for db := range quorum.Databases {
						fmt.Fprintf(conn, "+OK\r\n+%d\r\n", db)
					}
				}
			case "DRYRUN":
				return // what follows is another matter
			}
		}
	}()
	set := &master.Set{Masters: []master.Master{{Name: "m", Network: "tcp", Address: ln.Addr().String()}},
		ConnectTimeout: 5 * time.Second, MasterTimeout: 5 * time.Second}
	found := Examine(context.Background(), set)
	if marks := found[0].Marks; len(marks) != quorum.Databases || marks[quorum.Databases-1] != "15" {
		t.Errorf("the markers are %q: %s", marks, found[0].Away)
	}
	ln.Close()
	<-ended
}
