package lease

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// state is a lock between two ops. Time is part of it: now is the earliest
// moment at which everything so far can have happened, and every op takes
// place at the earliest moment that its own interval and the lock allow. An
// earlier moment never forbids what a later one would allow, as all that is
// asked of an op is to come late enough; so the earliest is the only one that
// has to be tried.
type state struct {
	token string  // of the last to be granted the lock
	until Instant // its client relies on it till then
	now   Instant
}

// step says whether op can follow in this state, and what state it leaves.
func (s state) step(op Op) (bool, state) {
	s.now = max(s.now, op.Call)
	mine := s.token == op.Token
	switch {
	case op.Kind == Acquire:
		// Only a yes is here: see telling. It waits for the end of whoever
		// relied on the lock before.
		s.now = max(s.now, s.until)
		s.token, s.until = op.Token, op.promises()
	case op.Kind == Extend && op.Outcome == Yes:
		// The client may be late and nobody else may have come: fine.
		if !mine {
			return false, s
		}
		s.until = op.promises()
	case op.Kind == Extend && op.Outcome == Unknown && mine:
		// It may have set a shorter life than the lock had.
		s.until = min(s.until, op.promises())
	case op.Kind == Read && op.Outcome == Yes:
		if !mine {
			return false, s
		}
	case op.Kind == Release && mine:
		// Whatever it hears, it no longer relied on the lock when it asked.
		s.until = min(s.until, s.now)
	case op.Outcome == No && mine:
		// A no ends the client's reliance when it is heard, not before.
		s.until = min(s.until, op.Return)
	}
	return s.now <= op.Return, s
}

// model is one lock for Porcupine, which partitions the history by key.
var model = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		byKey := make(map[string][]porcupine.Operation)
		for _, o := range history {
			key := o.Input.(Op).Key
			byKey[key] = append(byKey[key], o)
		}
		var parts [][]porcupine.Operation
		for _, key := range sortedKeys(byKey) {
			parts = append(parts, byKey[key])
		}
		return parts
	},
	Init: func() any { return state{} },
	Step: func(s, input, _ any) (bool, any) {
		ok, next := s.(state).step(input.(Op))
		return ok, next
	},
	DescribeOperation: func(input, _ any) string { return input.(Op).String() },
	DescribeState: func(s any) string {
		st := s.(state)
		if st.token == "" {
			return "free"
		}
		return fmt.Sprintf("%s until %d, now %d", st.token, st.until, st.now)
	},
}

// Verdict is what Porcupine found.
type Verdict struct {
	Result porcupine.CheckResult
	info   porcupine.LinearizationInfo
}

// Check says whether a lock that never has two holders inside their validity
// can have given this history. It gives up, with porcupine.Unknown, after the
// time given.
func Check(history []Op, patience time.Duration) Verdict {
	result, info := porcupine.CheckOperationsVerbose(model, operations(history), patience)
	return Verdict{result, info}
}

// Visualize writes the history and where it breaks off as a page of HTML.
func (v Verdict) Visualize(path string, marks []Mark) error {
	notes := make([]porcupine.Annotation, len(marks))
	for i, m := range marks {
		notes[i] = porcupine.Annotation{
			Tag: m.Where, Start: int64(m.From), End: int64(m.To), Description: m.What,
			BackgroundColor: "#f4d8d8",
		}
	}
	v.info.AddAnnotations(notes)
	return porcupine.VisualizePath(model, v.info, path)
}

// Mark is something that happened beside the history, to be shown with it.
type Mark struct {
	Where, What string
	From, To    Instant
}

// operations is the part of a history that is telling, as Porcupine wants it.
func operations(history []Op) []porcupine.Operation {
	granted := grants(history)
	var out []porcupine.Operation
	for _, op := range history {
		if telling(op, granted) {
			out = append(out, porcupine.Operation{ClientId: op.Client, Input: op, Call: int64(op.Call), Return: int64(op.Return)})
		}
	}
	slices.SortStableFunc(out, func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
	return out
}

// telling leaves out what is allowed in every state and changes none: what is
// not an answer about a lock that was granted. An unknown release stays: the
// client has let go of the lock. It needs no open end either, as it only ever
// allows more, and allows most where it comes first.
func telling(op Op, granted map[string]bool) bool {
	if op.Kind == Acquire {
		return op.Outcome == Yes
	}
	return granted[op.Token] || op.Kind != Release && op.Outcome == Yes
}

// grants are the tokens that were granted a lock.
func grants(history []Op) map[string]bool {
	granted := make(map[string]bool)
	for _, op := range history {
		if op.Kind == Acquire && op.Outcome == Yes {
			granted[op.Token] = true
		}
	}
	return granted
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
