package decide

import "redlock-proxy/quorum"

// counted is a Question as of one moment of its ballot: the votes that are in, their tally, and
// what those who cast them have said.
type counted struct {
	*Question
	Votes
	Tally
}

func (q *Question) counted(v Votes) counted { return counted{q, v, v.Tally(len(q.Said))} }

// most is what most of the masters with a vote said, and how many they are: of the answers that
// count, those are taken together which are alike. Of equally many it is that of the master
// which comes first.
func (c *counted) most(vote quorum.Vote, counts func(*Said) bool, alike func(s, other *Said) bool) (said Said, most int) {
	from := 0
	for i := range c.Said {
		if c.Vote(i) != vote || !counts(&c.Said[i]) {
			continue
		}
		n := 0
		for j := range c.Said {
			if c.Vote(j) == vote && counts(&c.Said[j]) && alike(&c.Said[i], &c.Said[j]) {
				n++
			}
		}
		if n > most {
			from, most = i, n
		}
	}
	if most > 0 {
		said = c.Said[from]
	}
	return said, most
}

// count is how many of the masters with a vote said something that is so.
func (c *counted) count(vote quorum.Vote, is func(*Said) bool) (n int) {
	for i := range c.Said {
		if c.Vote(i) == vote && is(&c.Said[i]) {
			n++
		}
	}
	return n
}
