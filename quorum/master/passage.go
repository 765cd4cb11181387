package master

// passage is what is handed on of some bytes: the beginning of them, as long as nothing is
// left out or put in, and a copy from then on.
type passage struct {
	of  []byte
	n   int // of them, while there is no copy
	own bool
	buf []byte
}

func (p *passage) pass(at, n int) {
	if !p.own && at == p.n {
		p.n += n
		return
	}
	p.put(p.of[at : at+n])
}

func (p *passage) put(b []byte) {
	if !p.own {
		p.buf, p.own = append(p.buf, p.of[:p.n]...), true
	}
	p.buf = append(p.buf, b...)
}

func (p *passage) kept() []byte {
	if p.own {
		return p.buf
	}
	return p.of[:p.n]
}
