package audit

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

func TestDenialsLeaveRoomForOrders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{fails: errors.New("full")}
		l, _ := newLog(d)
		for i := range 2 * 3600 { // two hours from one address after another
			l.Tell(wrongPassword(i))
			time.Sleep(time.Second)
			l.Sweep()
		}
		if l.Lost() == 0 || l.queued > maxQueued/2+200 { // with the line that tells of lost ones
			t.Fatalf("%d bytes wait, %d lines are lost", l.queued, l.Lost())
		}
		l.Tell(force("k"))
		d.fail(nil)
		time.Sleep(2 * retry)
		lines := d.lines(t)
		if last := lines[len(lines)-1]; last.Key != "k" || lines[len(lines)-2].Event != gap {
			t.Errorf("the order is not the last one: %+v", last)
		}
		l.Close(time.Second)
	})
}

func TestFloodOfDenialsIsCountedAndNotWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{}
		l, _ := newLog(d)
		for range 1000 {
			l.Tell(wrongPassword(1))
		}
		l.Tell(wrongPassword(2))
		synctest.Wait()
		if n := len(d.lines(t)); n != burst+1 {
			t.Errorf("%d lines of one address and another", n)
		}
		time.Sleep(interval)
		l.Tell(wrongPassword(1))
		synctest.Wait()
		lines := d.lines(t)
		if last := lines[len(lines)-1]; last.Omitted != 1000-burst {
			t.Errorf("left out are %d, want %d", last.Omitted, 1000-burst)
		}
		for range 50 {
			l.Tell(wrongPassword(1))
		}
		time.Sleep(burst*interval + time.Second)
		l.Sweep()
		synctest.Wait()
		lines = d.lines(t)
		if last := lines[len(lines)-1]; last.Event != omitted || last.Omitted != 50 || last.From != "10.0.0.1" || last.Why != "wrong password" {
			t.Errorf("in the end: %+v", last)
		}
		if n := len(l.bounds.sorts); n != 0 {
			t.Errorf("%d sorts are remembered", n)
		}
		l.Close(time.Second)
	})
}

func TestFloodOfManyAddressesIsBoundedAndNothingIsUncounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{}
		l, _ := newLog(d)
		const seconds, each = 60, 2000
		for s := range seconds {
			for i := range each {
				l.Tell(wrongPassword(s*each + i))
			}
			time.Sleep(time.Second)
			l.Sweep()
		}
		if n := len(l.bounds.sorts); n > maxAlike+1 {
			t.Errorf("%d sorts are remembered", n)
		}
		l.Tell(force("k"))
		l.Close(time.Second)
		lines := d.lines(t)
		told, omitted, orders := 0, 0, 0
		for _, line := range lines {
			omitted += int(line.Omitted)
			switch line.Event {
			case Denial:
				told++
			case Order:
				orders++
			}
		}
		if told+omitted != seconds*each || orders != 1 {
			t.Errorf("%d are told, %d left out, of %d; %d orders", told, omitted, seconds*each, orders)
		}
		if told > allBurst+seconds*4 {
			t.Errorf("%d lines in %d seconds", told, seconds)
		}
	})
}

func TestOrdersThatDifferAreAllWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{}
		l, _ := newLog(d)
		for range 1000 {
			l.Tell(Entry{Event: Order, Command: "SLOWLOG RESET", Source: "10.0.0.1", Outcome: Done, Open: true})
		}
		for i := range 2 * burst {
			l.Tell(Entry{Event: Order, Command: "FLUSHDB", Source: "10.0.0.1", Outcome: Done, DB: i, HasDB: true})
			l.Tell(Entry{Event: Order, Command: "MONITOR", Source: "10.0.0.1", Outcome: Done, User: fmt.Sprint(i)})
		}
		const many = 2 * maxAlike
		for i := range many {
			l.Tell(force(fmt.Sprint(i)))
		}
		l.Close(time.Second)
		n := make(map[string]int)
		for _, line := range d.lines(t) {
			n[line.Command]++
		}
		if n["LOCK FORCE"] != many || n["FLUSHDB"] != 2*burst || n["MONITOR"] != 2*burst {
			t.Errorf("of orders are there %v", n)
		}
	})
}
