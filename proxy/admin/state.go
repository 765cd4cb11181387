package admin

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"redlock-proxy/quorum"
)

// mountState mounts what health checks ask for.
func mountState(mux *http.ServeMux, source Source) {
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		io.WriteString(w, "ok\n")
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		state, code := readiness{Ready: true}, http.StatusOK
		if cause := causeOf(source, accessOf(r).user != ""); cause != "" {
			state, code = readiness{Cause: cause}, http.StatusServiceUnavailable
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		// Who asked is gone, if it fails.
		_ = json.NewEncoder(w).Encode(state)
	})
}

// readiness is the answer to /readyz.
type readiness struct {
	Ready bool   `json:"ready"`
	Cause string `json:"cause,omitempty"`
}

// causeOf is why no lock can be had here, "" if one can. Who is not known is told no master's
// name.
func causeOf(source Source, known bool) string {
	switch {
	case source.Ready():
		return ""
	case source.Draining():
		return "this proxy is shutting down"
	}
	st := source.Status()
	if st.CanVote >= st.Quorum {
		return "" // since then
	}
	return noQuorum(&st, known)
}

func noQuorum(st *quorum.Status, known bool) string {
	text := fmt.Sprintf("NOQUORUM %d of %d masters can vote, %d are needed", st.CanVote, len(st.Masters), st.Quorum)
	why := st.Shortage
	if known && st.CanVote == 0 && st.Hindrance != "" {
		why = st.Hindrance
	}
	if why != "" {
		text += ": " + why
	}
	return text
}
