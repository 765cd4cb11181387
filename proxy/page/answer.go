package page

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
)

// answer writes a value as JSON.
func answer(w http.ResponseWriter, status int, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		panic(err) // of our own types there is none that cannot be encoded
	}
	answerEncoded(w, status, body)
}

// answerEncoded writes what is JSON already. Who does not take it is not our concern.
func answerEncoded(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(append(body, '\n'))
}

func refuse(w http.ResponseWriter, status int, why string) {
	answer(w, status, struct {
		Error string `json:"error"`
	}{why})
}

// refuseFor refuses for what a Source said.
func (h *Handler) refuseFor(w http.ResponseWriter, r *http.Request, err error) {
	status := http.StatusInternalServerError
	switch {
	case errors.Is(err, ErrNotThere):
		status = http.StatusNotFound
	case errors.Is(err, ErrNotNow):
		status = http.StatusConflict
	case errors.Is(err, ErrNotAllowed):
		status = http.StatusForbidden
	case errors.Is(err, ErrBadAsking):
		status = http.StatusBadRequest
	case errors.Is(err, ErrNoQuorum):
		status = http.StatusServiceUnavailable
	case errors.Is(err, context.DeadlineExceeded):
		status = http.StatusGatewayTimeout
	case r.Context().Err() != nil: // nobody is there to hear of it
	default:
		h.log.Error("the page cannot be answered", "path", r.URL.Path, "error", err)
	}
	refuse(w, status, strings.Join(strings.Fields(err.Error()), " "))
}
