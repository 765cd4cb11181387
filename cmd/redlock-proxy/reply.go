package main

import (
	"bufio"
	"errors"
	"io"
	"strconv"
	"strings"
)

// value is a reply of RESP2: its kind is the byte that it begins with.
type value struct {
	kind  byte   // + - $ : or *, and _ for nil
	text  string // of all but an array
	elems []value
}

// maxDepth is how deep arrays may be nested that are read.
const maxDepth = 5

var errNotRESP = errors.New("what answers is no Redis protocol")

// readValue reads one reply. How much it is in all, its reader bounds.
func readValue(r *bufio.Reader, depth int) (v value, err error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return v, err
	}
	text, ok := strings.CutSuffix(line, "\r\n")
	if !ok || text == "" || depth == 0 {
		return v, errNotRESP
	}
	v.kind, v.text = text[0], text[1:]
	switch v.kind {
	case '+', '-':
		return v, nil
	case ':', '$', '*':
	default:
		return v, errNotRESP
	}
	n, err := strconv.Atoi(v.text)
	switch {
	case err == nil && n == -1 && v.kind == '$':
		return value{kind: '_'}, nil
	case err != nil, v.kind != ':' && (n < 0 || n > maxAnswer):
		return v, errNotRESP
	case v.kind == '$':
		b := make([]byte, n+2)
		if _, err := io.ReadFull(r, b); err != nil {
			return v, err
		}
		v.text = string(b[:n])
	case v.kind == '*':
		for range n {
			e, err := readValue(r, depth-1)
			if err != nil {
				return v, err
			}
			v.elems = append(v.elems, e)
		}
	}
	return v, nil
}

// fields are a map as RESP2 has it: names and values in turn.
func (v value) fields() map[string]value {
	m := make(map[string]value)
	for i := 0; i+1 < len(v.elems); i += 2 {
		m[v.elems[i].text] = v.elems[i+1]
	}
	return m
}

// number is that of an integer or of a text, 0 if there is none.
func (v value) number() int64 {
	n, _ := strconv.ParseInt(v.text, 10, 64)
	return n
}
