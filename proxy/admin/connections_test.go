package admin

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// ended tells that the server has closed the connection.
func ended(nc net.Conn) bool {
	synctest.Wait()
	nc.SetReadDeadline(time.Now())
	_, err := nc.Read(make([]byte, 1))
	return err == io.EOF
}

func TestWhoSaysNothingMakesRoomForWhoAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		var silent []net.Conn
		for range MaxConnections {
			silent = append(silent, r.dial())
		}
		go io.WriteString(silent[0], "GET /livez HTTP/1.1\r\n") // which is not a request yet
		for i := range 10 {
			if a := r.ask("GET /livez"); a.code != 200 {
				t.Errorf("who asks: %d", a.code)
			}
			synctest.Wait() // and goes
			silent = append(silent, r.dial())
			if !ended(silent[i]) || ended(silent[i+1]) {
				t.Errorf("the connection that has waited longest is not the one that makes room")
			}
		}
		r.end()
	})
}

func TestWhoIsAnsweredMakesNoRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		enough := make(chan struct{})
		r := newRig(t, Config{Handlers: map[string]http.Handler{"/wait": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { <-enough })}})
		answers := make(chan answer, MaxConnections)
		for range MaxConnections {
			nc := r.dial()
			go func() {
				a, _ := askOn(nc, "GET /wait")
				answers <- a
			}()
		}
		synctest.Wait()
		if more := r.dial(); !ended(more) {
			t.Error("there is room for one more than there may be")
		}
		close(enough)
		for range MaxConnections {
			if a := <-answers; a.code != 200 {
				t.Errorf("one that was there is answered %d", a.code)
			}
		}
		synctest.Wait()
		if a := r.ask("GET /livez"); a.code != 200 {
			t.Errorf("later there is no room: %d", a.code)
		}
		r.end()
	})
}

func TestStrangersWhoDoNotReadMakeRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRigWith(t, func() string { return "secret" }, Config{})
		for range MaxConnections {
			nc := r.dial()
			go io.WriteString(nc, "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
		}
		synctest.Wait()
		began := time.Now()
		for _, path := range []string{"/livez", "/readyz", "/metrics"} {
			if a := r.ask("GET "+path, basic("default", "secret")); a.code != 200 || time.Since(began) > 0 {
				t.Errorf("%s: %d after %v", path, a.code, time.Since(began))
			}
		}
		r.end()
	})
}

// closedAfter is when the server closes the connection.
func closedAfter(nc net.Conn) time.Duration {
	began := time.Now()
	nc.SetReadDeadline(began.Add(time.Hour))
	io.Copy(io.Discard, nc)
	return time.Since(began)
}

func TestWhoIsSlowToAskIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{Handlers: map[string]http.Handler{"/read": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if n, err := io.Copy(io.Discard, r.Body); err == nil {
				t.Errorf("a body of %d bytes has come to its end", n)
			}
		})}})
		for sent, want := range map[string]time.Duration{
			"":                         headerTimeout,
			"GET /livez HTTP/1.1\r\n":  headerTimeout,
			"GET /livez HTTP/1.1\r\nA": headerTimeout,
			"POST /read HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nContent-Length: 9\r\n\r\nbody": readTimeout,
		} {
			nc := r.dial()
			go io.WriteString(nc, sent)
			if took := closedAfter(nc); took < want || took > want+time.Second {
				t.Errorf("%q: closed after %v, want %v", sent, took, want)
			}
		}
		nc := r.dial()
		if a, err := askOn(nc, "GET /livez"); err != nil || a.code != 200 {
			t.Errorf("%v, %v", a, err)
		}
		if took := closedAfter(nc); took != idleTimeout {
			t.Errorf("who asks no more is there for %v", took)
		}
		r.end()
	})
}

func TestWhatIsAskedIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{Handlers: map[string]http.Handler{"/read": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
			}
		})}})
		if a := r.ask("GET /livez", "Long: "+strings.Repeat("x", 4<<10)); a.code != 200 {
			t.Errorf("a head of 4 KiB: %d", a.code)
		}
		if a := r.ask("GET /livez", "Long: "+strings.Repeat("x", 16<<10)); a.code != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("a head of 16 KiB: %d", a.code)
		}
		own := []string{"Origin: http://localhost:6381", "Transfer-Encoding: chunked"}
		chunk := "\r\n8000\r\n" + strings.Repeat("x", 0x8000)
		if a := r.ask("POST /read", append(own, chunk+chunk+"\r\n0")...); a.code != 200 {
			t.Errorf("a body of 64 KiB: %d", a.code)
		}
		if a := r.ask("POST /read", append(own, chunk+chunk+chunk+"\r\n0")...); a.code != http.StatusRequestEntityTooLarge {
			t.Errorf("a body of 96 KiB: %d", a.code)
		}
		r.end()
	})
}

func TestWhoDoesNotReadIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed := make(chan time.Duration, 1)
		r := newRig(t, Config{Handlers: map[string]http.Handler{"/long": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			began := time.Now()
			for {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					failed <- time.Since(began)
					return
				}
			}
		})}})
		nc := r.dial()
		go io.WriteString(nc, "GET /long HTTP/1.1\r\nHost: localhost\r\n\r\n")
		if took := <-failed; took != writeTimeout {
			t.Errorf("he is written to for %v, want %v", took, writeTimeout)
		}
		r.end()
	})
}

func TestShutdownEndsWhatIsBeingAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ends := make(chan struct{})
		r := newRig(t, Config{Handlers: map[string]http.Handler{
			"/heeds":  http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done(); io.WriteString(w, "in time") }),
			"/ignore": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { <-ends }),
		}})
		answers, idle := make(chan answer, 1), r.dial()
		nc := r.dial()
		go func() {
			a, _ := askOn(nc, "GET /heeds")
			answers <- a
		}()
		synctest.Wait()
		began := time.Now()
		r.end()
		if a := <-answers; a.body != "in time" || time.Since(began) >= graceTimeout {
			t.Errorf("it is answered %q after %v", a.body, time.Since(began))
		}
		if !ended(idle) {
			t.Error("a connection is open yet")
		}

		r = newRig(t, r.server.cfg)
		nc = r.dial()
		go askOn(nc, "GET /ignore")
		synctest.Wait()
		began = time.Now()
		r.end()
		if took := time.Since(began); took != graceTimeout {
			t.Errorf("what does not end is waited for %v, want %v", took, graceTimeout)
		}
		close(ends)
	})
}

func TestARequestThatPanicsHarmsNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{Handlers: map[string]http.Handler{"/panics": http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("no") })}})
		if _, err := askOn(r.dial(), "GET /panics"); err == nil {
			t.Error("it is answered")
		}
		if a := r.ask("GET /livez"); a.code != 200 {
			t.Errorf("another: %d", a.code)
		}
		if log := r.log.String(); strings.Count(log, "[ERROR]") != 1 || !strings.Contains(log, "path=/panics panic=no") {
			t.Errorf("the log: %s", log)
		}
		r.end()
	})
}
