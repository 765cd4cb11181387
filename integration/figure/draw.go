package main

import (
	"fmt"
	"strings"

	"redlock-proxy/quorum"
)

// Where things stand, in pixels.
const (
	width  = 800
	left   = 92  // where the first step begins
	column = 139 // a step's width

	headTop     = 26
	clientsTop  = 92
	mastersTop  = 156
	row         = 66
	bar         = 58 // a master's height, the rest of its row being a gap
	decisionTop = mastersTop + 3*row + 6
	notesTop    = decisionTop + 66
	height      = notesTop + 34
)

// Colours on the figure's own ground.
const (
	ink, faint, ground, edge = "#1f2328", "#57606a", "#ffffff", "#d0d7de"
	lock, undoing            = "#6639ba", "#bc4c00"
)

// paint is a light colour for a surface, and a dark one for words on it.
type paint struct{ light, dark string }

var (
	green = paint{"#dafbe1", "#116329"}
	grey  = paint{"#eaeef2", "#57606a"}
	amber = paint{"#fff3c4", "#7d4e00"}
	blue  = paint{"#ddf4ff", "#0550ae"}
	red   = paint{"#ffebe9", "#a40e26"}
)

var ofState = map[quorum.State]paint{
	quorum.Voting: green, quorum.Down: grey, quorum.Quarantined: amber, quorum.CatchingUp: blue,
}

var ofVote = map[quorum.Vote]paint{
	quorum.Granted: green, quorum.Refused: red, quorum.Unknown: grey, quorum.Withheld: amber,
}

// drawing gathers the elements.
type drawing struct{ strings.Builder }

func (d *drawing) add(format string, args ...any) { fmt.Fprintf(d, format+"\n", args...) }

// at is where a time lies, counted in steps.
func at(time float64) float64 { return left + time*column }

// text's anchor is start, middle or end.
func (d *drawing) text(x, y float64, anchor, colour, style, text string) {
	d.add(`<text x="%g" y="%g" text-anchor="%s" fill="%s"%s>%s</text>`, x, y, anchor, colour, style, text)
}

const (
	plain = ""
	bold  = ` font-weight="600"`
	code  = ` font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace"`
)

func (d *drawing) box(x, y, w, h float64, fill, stroke string) {
	d.add(`<rect x="%g" y="%g" width="%g" height="%g" rx="5" fill="%s" stroke="%s"/>`, x, y, w, h, fill, stroke)
}

// arrow goes straight up or down.
func (d *drawing) arrow(x, from, to float64, colour string) {
	head := 6.0
	if to < from {
		head = -head
	}
	d.add(`<path d="M%g %gV%g" stroke="%s" stroke-width="2" fill="none"/>`, x, from, to-head, colour)
	d.add(`<path d="M%g %gl-5 %gh10z" fill="%s"/>`, x, to, -head-2*head/6, colour)
}

// draw is the whole figure.
func draw() string {
	d := &drawing{}
	d.add(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" font-family="system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif" font-size="13">`,
		width, height, width, height)
	d.add(`<title>A master that lost its memory does not vote until it holds again what the others do</title>`)
	d.add(`<rect x="0.5" y="0.5" width="%d" height="%d" rx="8" fill="%s" stroke="%s"/>`, width-1, height-1, ground, edge)
	d.heads()
	d.clients()
	for i, m := range masters {
		d.master(m, float64(mastersTop+i*row))
	}
	d.givesBack()
	d.questions()
	for i, note := range notes {
		d.text(14, float64(notesTop+i*20), "start", ink, plain, note)
	}
	d.add(`</svg>`)
	return d.String()
}

// heads are the steps' numbers and what happens in them.
func (d *drawing) heads() {
	for i, s := range steps {
		x := at(float64(i) + 0.5)
		d.add(`<circle cx="%g" cy="%d" r="11" fill="%s"/>`, x, headTop, ink)
		d.text(x, headTop+4.5, "middle", ground, bold, fmt.Sprint(i+1))
		for j, line := range s.says {
			d.text(x, float64(headTop+28+j*17), "middle", ink, plain, line)
		}
		if i > 0 {
			d.add(`<path d="M%g %dV%d" stroke="%s" stroke-dasharray="2 4"/>`, at(float64(i)), headTop-10, decisionTop+44, edge)
		}
	}
}

// clients are who asks, what they hear, and for how long A holds the lock.
func (d *drawing) clients() {
	d.text(14, clientsTop+18, "start", ink, bold, "clients")
	for i, s := range steps {
		if s.asker == "" {
			continue
		}
		x, answer := at(float64(i)+asks), green
		if s.decision != quorum.Won {
			answer = red
		}
		d.text(x, clientsTop+18, "middle", ink, code, "SET k "+s.asker+" NX PX …")
		d.text(x, clientsTop+35, "middle", answer.dark, code+bold, s.reply)
	}
	d.held(asks, 5, clientsTop+44, lock)
	d.text(at(1.5), clientsTop+39, "middle", lock, bold, "A holds the lock")
}

// held is the line that stands for a key.
func (d *drawing) held(from, to, y float64, colour string) {
	d.add(`<rect x="%g" y="%g" width="%g" height="5" rx="2" fill="%s"/>`, at(from), y, at(to)-at(from)-5, colour)
}

func (d *drawing) master(m master, y float64) {
	d.text(14, y+34, "start", ink, bold, m.name)
	for _, s := range m.states {
		p := ofState[s.state]
		d.box(at(s.from)+1, y, at(s.to)-at(s.from)-2, bar, p.light, p.dark)
		d.text(at(s.from)+8, y+16, "start", p.dark, plain, s.state.String())
	}
	for _, s := range m.holds {
		d.held(s.from, s.to, y+bar-10, lock)
	}
	for _, s := range m.undone {
		d.held(s.from, s.to, y+bar-10, undoing)
		d.text(at(s.to), y+bar-4, "start", undoing, plain, "undone")
	}
}

// givesBack are the others' keys on their way to master 2.
func (d *drawing) givesBack() {
	x := at(3 + gives)
	first, second, third := float64(mastersTop), float64(mastersTop+row), float64(mastersTop+2*row)
	d.arrow(x, first+bar-8, second+bar-12, lock)
	d.text(x-10, second+36, "end", lock, bold, "k = A")
	d.arrow(x, third+28, second+bar+1, faint)
	d.text(x-10, third+24, "end", faint, plain, "no key")
}

// questions are the votes of each question and what they amount to.
func (d *drawing) questions() {
	d.text(14, decisionTop+18, "start", ink, bold, "decision")
	for i, s := range steps {
		if s.asker == "" {
			continue
		}
		x := at(float64(i) + asks)
		for j, v := range s.votes {
			d.vote(x, float64(mastersTop+j*row+22), v)
		}
		d.text(x, decisionTop+18, "middle", ink, bold, s.decision.String())
		d.text(x, decisionTop+35, "middle", ink, plain, s.because)
	}
}

// vote is a word in a box around x.
func (d *drawing) vote(x, y float64, v quorum.Vote) {
	const w, h = 78, 21
	d.add(`<rect x="%g" y="%g" width="%d" height="%d" rx="10" fill="%s"/>`, x-w/2, y, w, h, ofVote[v].dark)
	d.text(x, y+15, "middle", ground, bold, v.String())
}
