package decide

import "redlock-proxy/quorum"

// spared are the keys that were given and are not known to be changed by what was won, as its reply or the masters'
// records tell. A script that can use one key alone has changed that, if it has done anything.
func (c *counted) spared(told *quorum.Result) (keys []string) {
	switch c.Kind {
	case quorum.Write, quorum.Remove:
		if told.Reply.Kind != 0 && !HasActed(&c.Request, told.Reply) {
			return []string{c.Key}
		}
	case quorum.Run:
		if len(c.Keys) < 2 && !c.Script.Reaches {
			return nil
		}
		changed := make(map[string]bool)
		for i := range c.Said {
			if c.Vote(i) == quorum.Granted {
				c.Said[i].Journal.changes(changed)
			}
		}
		for _, key := range c.Keys {
			if !changed[key] {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// changes notes the keys that a script is known to have changed, and not their ttls alone by the time that has passed.
func (j *Journal) changes(keys map[string]bool) {
	if j == nil {
		return
	}
	for i := range j.Found {
		if r := &j.Found[i]; r.Before != r.After || r.Expires > r.Left || r.Left-r.Expires > unchanged {
			keys[r.Key] = true
		}
	}
}
