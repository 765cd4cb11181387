package messages

import (
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
)

// audience keeps what it is given, once it may.
type audience struct {
	may chan struct{}
	got []string
}

func (a *audience) Deliver(channel, message string) int {
	<-a.may
	a.got = append(a.got, channel+"="+message)
	return 1
}

func (*audience) Flush() {}

// Where too many messages wait to be delivered here, who publishes waits, and so does what
// masters bring; what is announced is left out, and counted.
func TestMessagesThatWaitToBeDeliveredAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		carried := 0
		b := New("me", func(string) bool { carried++; return true })
		a := &audience{may: make(chan struct{})}
		b.Attend(a)
		go b.Run()
		b.Announce([]string{"c", "first"}) // it is about to be delivered
		synctest.Wait()
		const announced = maxLine + 100
		b.Announce(slices.Repeat([]string{"c", "x"}, announced))
		published := make(chan int)
		go func() { published <- b.Publish("c", "last") }()
		go b.Receive(envelope{"another", 1, "c", "heard"}.String())
		go b.Receive(envelope{"another", 1, "c", "heard"}.String())
		go b.Receive(envelope{"me", 1, "c", "mine"}.String())
		synctest.Wait()
		if len(b.line) != maxLine {
			t.Errorf("%d messages wait", len(b.line))
		}
		close(a.may)
		if n := <-published; n != 1 {
			t.Errorf("%d subscribers", n)
		}
		synctest.Wait()
		if got, short, received := b.Counts(); got != announced+2 || short != announced-maxLine || received != 1 {
			t.Errorf("%d published, %d fell short, %d received", got, short, received)
		}
		if n := len(a.got); n != 1+maxLine+2 || carried != announced+2 {
			t.Errorf("%d messages were delivered, %d carried", n, carried)
		}
		if !slices.Contains(a.got, "c=last") || !slices.Contains(a.got, "c=heard") || slices.Contains(a.got, "c=mine") {
			t.Error("what waited for room was not delivered, or what is ours")
		}
		b.Close()
	})
}

// A message goes to all masters and to those who listen here in the order of its numbers.
func TestMessagesAreCarriedInTheOrderInWhichTheyAreDelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var carried []string
		b := New("me", func(text string) bool {
			v, ok := parseEnvelope(text)
			if !ok || v.sender != "me" || v.number != uint64(len(carried)+1) {
				t.Errorf("%q was carried as number %d", text, len(carried)+1)
			}
			carried = append(carried, v.channel+"="+v.message)
			return true
		})
		a := &audience{may: make(chan struct{})}
		close(a.may)
		b.Attend(a)
		go b.Run()
		for i := range 100 {
			go b.Publish(strconv.Itoa(i), "m")
		}
		synctest.Wait()
		if len(carried) != 100 || !slices.Equal(carried, a.got) {
			t.Errorf("carried: %q\ndelivered: %q", carried, a.got)
		}
		b.Close()
		if n := b.Publish("c", "m"); n != 0 {
			t.Errorf("a closed bus has delivered to %d", n)
		}
	})
}

// Listening begins when somebody wants to hear, once, and not after the end.
func TestListeningBeginsOnce(t *testing.T) {
	begun := 0
	s := NewSubscriptions(func() { begun++ })
	s.Begin()
	if _, changed := s.Look(); begun != 1 || isClosed(changed) {
		t.Errorf("begun %d times", begun)
	}
	_, changed := s.Look()
	s.Confirm(func(confirmed int) {
		if confirmed != 1 || isClosed(changed) {
			t.Errorf("%d stand, and that is told before", confirmed)
		}
	})
	if !isClosed(changed) || s.Confirmed() != 1 || begun != 1 {
		t.Errorf("%d stand, begun %d times", s.Confirmed(), begun)
	}
	confirmed, changed := s.Look()
	s.Close()
	s.Close()
	if confirmed != 1 || !isClosed(changed) {
		t.Error("whoever waits is not told of the end")
	}
	s = NewSubscriptions(func() { t.Error("it begins to listen after the end") })
	s.Close()
	s.Begin()
	if _, changed := s.Look(); !isClosed(changed) {
		t.Error("whoever looks after the end waits")
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
