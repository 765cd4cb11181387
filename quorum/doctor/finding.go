package doctor

import (
	"fmt"
	"slices"
	"strings"
)

// Severity is how bad a finding is.
type Severity uint8

const (
	Breaks  Severity = iota + 1 // a master has no vote by it, or locks can be lost or given twice
	Warning                     // it costs something, or will
)

// String is the severity as it is printed.
func (s Severity) String() string {
	switch s {
	case Breaks:
		return "breaks"
	case Warning:
		return "warning"
	}
	return "unknown"
}

// MarshalText is for JSON.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Finding is one thing that is wrong.
type Finding struct {
	Name     string   `json:"finding"` // a word that stays the same, for machines
	Severity Severity `json:"severity"`
	Masters  []string `json:"masters"` // of which it is true; none if it is about all, or this machine
	What     string   `json:"what"`
	Means    string   `json:"means"` // for locks
	Cure     string   `json:"cure"`
}

// findings gathers them.
type findings struct{ list []Finding }

func (f *findings) add(s Severity, name string, masters []string, what, means, cure string) {
	for i := range f.list {
		if g := &f.list[i]; g.Name == name && g.What == what && g.Severity == s && len(masters) > 0 {
			g.Masters = append(g.Masters, masters...)
			return
		}
	}
	if masters == nil {
		masters = []string{}
	}
	f.list = append(f.list, Finding{name, s, masters, what, means, cure})
}

// of adds a finding about one master.
func (f *findings) of(m *Master, s Severity, name, what, means, cure string) {
	f.add(s, name, []string{m.Name}, what, means, cure)
}

// sorted are the findings, the worst first.
func (f *findings) sorted() []Finding {
	slices.SortStableFunc(f.list, func(a, b Finding) int { return int(a.Severity) - int(b.Severity) })
	return f.list
}

// Worst is the severity of the worst, 0 if there is none.
func Worst(list []Finding) Severity {
	worst := Severity(0)
	for _, f := range list {
		if worst == 0 || f.Severity < worst {
			worst = f.Severity
		}
	}
	return worst
}

// Where is what a finding is about, in words.
func (f *Finding) Where() string {
	switch len(f.Masters) {
	case 0:
		return ""
	case 1:
		return "master " + f.Masters[0]
	}
	return "masters " + strings.Join(f.Masters, ", ")
}

// bytes is a size as people read it.
func bytes(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}
