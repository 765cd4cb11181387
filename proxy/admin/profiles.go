package admin

import (
	"net/http"
	"net/http/pprof"
	"strconv"
	"time"
)

// longestProfile is for how long the process may be watched by one request.
const longestProfile = 5 * time.Minute

// mountProfiles mounts what Go tells of the process. To watch it so costs time: hence it is for
// operators. The program's arguments are not among it, as a password may be.
func mountProfiles(mux *http.ServeMux) {
	mux.HandleFunc("GET /debug/pprof/", forOperators(lasting(pprof.Index)))
	mux.HandleFunc("GET /debug/pprof/profile", forOperators(lasting(pprof.Profile)))
	mux.HandleFunc("GET /debug/pprof/symbol", forOperators(pprof.Symbol))
	mux.HandleFunc("GET /debug/pprof/trace", forOperators(lasting(pprof.Trace)))
}

func forOperators(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !OrdersAllowed(r) {
			http.Error(w, "this is for users with the right to @operate", http.StatusForbidden)
			return
		}
		h(w, r)
	}
}

// lasting gives a handler the seconds that it is asked for, and then as long as any to write.
func lasting(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		asked := 30 * time.Second // of a profile
		if seconds, err := strconv.ParseFloat(r.FormValue("seconds"), 64); err == nil {
			if !(seconds <= longestProfile.Seconds()) { // nor what is no number
				http.Error(w, "seconds may be at most "+strconv.Itoa(int(longestProfile/time.Second)), http.StatusBadRequest)
				return
			}
			asked = time.Duration(max(seconds, 0) * float64(time.Second))
		}
		writeWithin(w, asked+writeTimeout)
		h(w, r)
	}
}
