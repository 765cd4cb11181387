package conf

import "strings"

// Problem is one thing that is wrong, and how to put it right.
type Problem struct {
	Where string // the option and its source, or "" if there is no single one
	What  string // lower case, with what was written but no password
	Cure  string // an order, "" if What says enough
}

// Error is one line: where: what; cure.
func (p Problem) Error() string {
	var b strings.Builder
	if p.Where != "" {
		b.WriteString(p.Where + ": ")
	}
	b.WriteString(p.What)
	if p.Cure != "" {
		b.WriteString("; " + p.Cure)
	}
	return b.String()
}

// Problems is everything that is wrong, in the order of the options.
type Problems []Problem

// Error has a line for each.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i := range p {
		lines[i] = p[i].Error()
	}
	return strings.Join(lines, "\n")
}

func (p *Problems) add(where, what, cure string) {
	*p = append(*p, Problem{where, what, cure})
}

// err is nil if nothing is wrong.
func (p Problems) err() error {
	if len(p) == 0 {
		return nil
	}
	return p
}
