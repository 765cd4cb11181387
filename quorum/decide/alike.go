package decide

import "redlock-proxy/quorum"

// alike are the masters, a bit each, that have said what the asker is told, as far as what they hold follows from it: of
// a value that quorum or more hold; or, where none can have a quorum, that they lack one. Of what is no read they are
// those whose script has said the same, by the keys that it was given alone: of others nobody is told.
func (c *counted) alike(told *quorum.Result) (masters uint16) {
	said := func(vote quorum.Vote, is func(*Said) bool) {
		for i := range c.Said {
			if c.Vote(i) == vote && is(&c.Said[i]) {
				masters |= 1 << i
			}
		}
	}
	decided := told.Decision == quorum.Won || told.Decision == quorum.Contended
	switch {
	case !decided:
	case c.Kind == quorum.Read:
		s, most := c.held()
		if most < c.Quorum() {
			s = Said{Absent: true}
		}
		said(quorum.Granted, func(t *Said) bool { return s.Absent && t.Absent || s.holds(t) })
	case c.Kind == quorum.Run && told.Script != nil:
		vote := quorum.Refused
		if told.Decision == quorum.Won {
			vote = quorum.Granted
		}
		said(vote, func(t *Said) bool {
			return !t.Journal.Busy && !t.Journal.reached && t.Journal.Reply.Alike(told.Script)
		})
	}
	return masters
}
