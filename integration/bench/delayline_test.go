package main

import (
	"io"
	"net"
	"testing"
	"time"
)

// TestWhatIsOnItsWayTogetherArrivesTogether: a second piece waits one round
// trip and not two.
func TestWhatIsOnItsWayTogetherArrivesTogether(t *testing.T) {
	const roundTrip = 100 * time.Millisecond
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	echoed := make(chan error, 1)
	go func() {
		c, err := l.Accept()
		if err == nil {
			_, err = io.Copy(c, c)
		}
		echoed <- err
	}()
	d, err := newDelayLine(l.Addr().String(), roundTrip)
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", d.addr)
	if err != nil {
		t.Fatal(err)
	}
	// Pieces that wait for each other do so every time, and the machine's other work comes
	// and goes.
	for try := 1; ; try++ {
		begun := time.Now()
		for range 5 {
			if _, err := c.Write([]byte("x")); err != nil {
				t.Fatal(err)
			}
			time.Sleep(roundTrip / 10)
		}
		if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took < roundTrip {
			t.Errorf("the first piece came back after %v", took)
		}
		if _, err := io.ReadFull(c, make([]byte, 4)); err != nil {
			t.Fatal(err)
		}
		took := time.Since(begun)
		if took <= 4*roundTrip {
			break
		}
		if try == 20 {
			t.Errorf("five pieces, a tenth of a round trip apart, took %v", took)
			break
		}
	}
	c.Close()
	if err := d.close(); err != nil {
		t.Error(err)
	}
	if err := <-echoed; err != nil {
		t.Error(err)
	}
}
