package page

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
)

func (h *Handler) overview(w http.ResponseWriter, _ *http.Request) {
	body, _ := h.frames.overview()
	answerEncoded(w, http.StatusOK, slices.Clone(body))
}

// ask carries out a question to the Source when it is its turn and answers with what that says.
func ask[T any](h *Handler, w http.ResponseWriter, r *http.Request, question func(context.Context) (T, error)) {
	ctx, cancel := context.WithTimeout(r.Context(), askedFor)
	defer cancel()
	select {
	case h.questions <- struct{}{}:
		defer func() { <-h.questions }()
	case <-ctx.Done():
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusServiceUnavailable, "too much is asked at once")
		return
	}
	said, err := question(ctx)
	if err != nil {
		h.refuseFor(w, r, err)
		return
	}
	answer(w, http.StatusOK, said)
}

func (h *Handler) locks(w http.ResponseWriter, r *http.Request) {
	q, err := parseQuery(r)
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	ask(h, w, r, func(ctx context.Context) (Locks, error) {
		page, err := h.source.Locks(ctx, q)
		page.Locks = list(slices.Clone(page.Locks))
		for i := range page.Locks {
			l := &page.Locks[i]
			cut(&l.Key, &l.KeyBytes)
			l.Votes, l.Timeline, l.Wanted = list(l.Votes), nil, nil
		}
		return page, err
	})
}

func (h *Handler) lock(w http.ResponseWriter, r *http.Request) {
	db, key, err := parsePlace(r)
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	ask(h, w, r, func(ctx context.Context) (Lock, error) {
		l, err := h.source.Lock(ctx, db, key)
		l.Votes = list(l.Votes)
		return l, err
	})
}

// events answers with all there are after a number.
func (h *Handler) events(w http.ResponseWriter, r *http.Request) {
	p, err := parametersOf(r, "after")
	after := 0
	if err == nil {
		after, err = p.number("after", 0, 1<<53, 0)
	}
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	list, _ := h.source.Events(uint64(after))
	if list == nil {
		list = []Event{}
	}
	answer(w, http.StatusOK, struct {
		Events []Event `json:"events"`
	}{list})
}

// order carries out an operator's order. A page of somebody else's cannot have it sent by the
// browser of an operator: it says where it is from, and could not say that it is JSON.
func (h *Handler) order(w http.ResponseWriter, r *http.Request) {
	if err := h.foreign.Check(r); err != nil {
		h.source.Forbidden(h.who(r), "another site's page asks")
		refuse(w, http.StatusForbidden, "an order is taken from this page alone")
		return
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		refuse(w, http.StatusUnsupportedMediaType, "an order is application/json")
		return
	}
	if r.URL.RawQuery != "" {
		refuse(w, http.StatusBadRequest, "an order has no parameters in its address")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxOrder))
	if tooLong := new(http.MaxBytesError); errors.As(err, &tooLong) {
		refuse(w, http.StatusRequestEntityTooLarge, "an order is not as long as that")
		return
	} else if err != nil {
		refuse(w, http.StatusBadRequest, "the order has not come to its end")
		return
	}
	o, err := parseOrder(body, h.frames.demo)
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	if who := h.who(r); !h.source.MayOrder(who, o.Order) {
		h.source.Forbidden(who, "no right to it")
		refuse(w, http.StatusForbidden, "you may not give this order: that takes the right to @operate")
		return
	}
	type said struct {
		Said string `json:"said"`
	}
	ask(h, w, r, func(ctx context.Context) (said, error) {
		text, err := h.source.Order(ctx, h.who(r), o)
		return said{text}, err
	})
}
