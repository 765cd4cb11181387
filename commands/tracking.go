package commands

import (
	"fmt"
	"slices"
	"strings"
)

// Tracking is what a client has asked for by CLIENT TRACKING: to be told when keys change that it has read, or all with
// certain prefixes. It is a value that can be compared.
type Tracking struct {
	On       bool
	Bcast    bool  // of all keys with its prefixes, read or not
	OptIn    bool  // of what is read behind CLIENT CACHING YES alone
	OptOut   bool  // but of what is read behind CLIENT CACHING NO
	NoLoop   bool  // but what it changes itself
	Redirect int64 // the client that is told instead, 0 if none
	Prefixes int   // how many there are, "" among them
}

// maxPrefixes is how many prefixes a client may name.
const maxPrefixes = 1024

// clientTracking checks in Redis's order.
func (s *Session) clientTracking(c *Command, args []string) Action {
	t := Tracking{On: true}
	var prefixes []string
	for words := args[3:]; len(words) > 0; words = words[1:] {
		switch option := lower(words[0]); {
		case option == "redirect" && len(words) > 1:
			words = words[1:]
			if text := s.redirect(&t, words[0]); text != "" {
				return refuse(text)
			}
		case option == "prefix" && len(words) > 1:
			words = words[1:]
			prefixes = append(prefixes, words[0])
		case option == "bcast":
			t.Bcast = true
		case option == "optin":
			t.OptIn = true
		case option == "optout":
			t.OptOut = true
		case option == "noloop":
			t.NoLoop = true
		default:
			return refuse(errSyntax)
		}
	}
	switch lower(args[2]) {
	case "on":
		if text := s.mayTrack(c, &t, prefixes); text != "" {
			return refuse(text)
		}
		return Action{Effect: TrackingEffect{t, ofItsOwn(prefixes)}}
	case "off":
		s.seen.Tracking, s.prefixes, s.caching = Tracking{}, nil, false
		return Action{Reply: OK}
	}
	return refuse(errSyntax)
}

// redirect takes the word in by which a client names another, or says what is wrong with it.
func (s *Session) redirect(t *Tracking, word string) (text string) {
	id, ok := parseInt(word)
	switch {
	case t.Redirect != 0:
		return errRedirectTwice
	case !ok:
		return errNotInteger
	case id != s.seen.ID && !s.d.lookout.Connected(id):
		return errRedirect
	}
	t.Redirect = id
	return ""
}

// mayTrack says why a client may not be told of what it asks for, "" if it may.
func (s *Session) mayTrack(c *Command, t *Tracking, prefixes []string) (text string) {
	now := &s.seen.Tracking
	switch {
	case len(prefixes) > 0 && !t.Bcast:
		return errPrefix
	case now.On && now.Bcast != t.Bcast:
		return errSwitchBcast
	case t.Bcast && (t.OptIn || t.OptOut):
		return errBcastOpts
	case t.OptIn && t.OptOut:
		return errOptBoth
	case now.On && (t.OptIn && now.OptOut || t.OptOut && now.OptIn):
		return errSwitchOpt
	case t.Bcast && !s.readsAllBy(c):
		return errBcastKeys
	case len(prefixes)+len(s.prefixes) > maxPrefixes:
		return fmt.Sprintf(errPrefixes, maxPrefixes)
	}
	for i, p := range prefixes {
		for _, old := range s.prefixes {
			if overlap(p, old) {
				return fmt.Sprintf(errPrefixExists, quoted(p, len(p)), quoted(old, len(old)))
			}
		}
		for _, other := range prefixes[i+1:] {
			if overlap(p, other) {
				return fmt.Sprintf(errPrefixTwice, quoted(p, len(p)), quoted(other, len(other)))
			}
		}
	}
	return ""
}

// readsAllBy tells that the session's user may be told of every key by a command.
func (s *Session) readsAllBy(c *Command) bool {
	user := s.user()
	return user != nil && user.MayOnAll(c.Index)
}

func overlap(p, q string) bool { return strings.HasPrefix(p, q) || strings.HasPrefix(q, p) }

// Tracks begins to tell, once that can be done; else err says why not.
func (s *Session) Tracks(e TrackingEffect, err error) Reply {
	if err != nil {
		return Error(fmt.Sprintf(errTracking, err))
	}
	prefixes := e.Prefixes
	if all := []string{""}; e.Bcast && len(prefixes) == 0 && !slices.Contains(s.prefixes, "") {
		prefixes = all
	}
	s.prefixes = append(slices.Clip(s.prefixes), prefixes...)
	s.seen.Tracking = e.Tracking
	s.seen.Tracking.Prefixes = len(s.prefixes)
	return OK
}

// Prefixes are those of a client that tracks by them. The slice is never written to again.
func (s *Session) Prefixes() []string { return slices.Clip(s.prefixes) }

// clientCaching is about the next command, or the next transaction.
func (s *Session) clientCaching(c *Command, args []string) Action {
	t := &s.seen.Tracking
	word := lower(args[2])
	switch {
	case !t.On:
		return refuse(errCaching)
	case word == "yes" && !t.OptIn:
		return refuse(errCachingYes)
	case word == "no" && !t.OptOut:
		return refuse(errCachingNo)
	case word != "yes" && word != "no":
		return refuse(errSyntax)
	}
	s.caching = true
	return Action{Reply: OK}
}

// tracked are the keys that a command reads for a client that is to be told when they change. A script may read all of
// its own.
func (s *Session) tracked(c *Command, args []string) (keys []string) {
	t := &s.seen.Tracking
	if !t.On || t.OptIn && !s.caching || t.OptOut && s.caching {
		return nil
	}
	if c.Name != "exec" {
		keys = ofItsOwn(c.keysRead(args))
	} else {
		for _, q := range s.tx.queue {
			keys = append(keys, q.command.keysRead(q.args)...)
		}
	}
	if t.Bcast {
		keys = slices.DeleteFunc(keys, func(key string) bool {
			return !slices.ContainsFunc(s.prefixes, func(p string) bool { return strings.HasPrefix(key, p) })
		})
	}
	return keys
}

// keysRead are the keys that a client may keep the reply of a command for.
func (c *Command) keysRead(args []string) []string {
	if c.KeyFlags == "" || !c.HasFlag("readonly") && !c.runsScript() {
		return nil
	}
	return c.keys(args)
}

// endCaching forgets what CLIENT CACHING has said, behind the command that it was about.
func (s *Session) endCaching(c *Command) {
	if !s.tx.open && (c == nil || c.parent == nil || c.parent.Name != "client") {
		s.caching = false
	}
}

func (s *Session) clientTrackingInfo(c *Command, args []string) Action {
	t := &s.seen.Tracking
	flags, redirect := []Reply{Bulk("off")}, int64(-1)
	if t.On {
		flags, redirect = flags[:0], t.Redirect
		for _, flag := range []struct {
			name string
			set  bool
		}{
			{"on", true},
			{"bcast", t.Bcast},
			{"optin", t.OptIn}, {"caching-yes", t.OptIn && s.caching},
			{"optout", t.OptOut}, {"caching-no", t.OptOut && s.caching},
			{"noloop", t.NoLoop},
			{"broken_redirect", t.Redirect != 0 && t.Redirect != s.seen.ID && !s.d.lookout.Connected(t.Redirect)},
		} {
			if flag.set {
				flags = append(flags, Bulk(flag.name))
			}
		}
	}
	return Action{Reply: Map(
		Bulk("flags"), Set(flags...),
		Bulk("redirect"), Integer(redirect),
		Bulk("prefixes"), Array(describeAll(slices.Sorted(slices.Values(s.prefixes)), Bulk)...),
	)}
}

func (s *Session) clientGetRedir(c *Command, args []string) Action {
	if t := &s.seen.Tracking; t.On {
		return Action{Reply: Integer(t.Redirect)}
	}
	return Action{Reply: Integer(-1)}
}

// invalidations is the channel by which a client that speaks RESP2 is told of another's keys.
const invalidations = "__redis__:invalidate"

// Invalidation tells a client of a protocol that a key may have changed, or, for nil, that all may have.
func Invalidation(proto int, key *string) Reply {
	keys := Null
	if key != nil {
		keys = Array(Bulk(*key))
	}
	if proto == 2 {
		return Push(Bulk("message"), Bulk(invalidations), keys)
	}
	return Push(Bulk("invalidate"), keys)
}

// RedirectionBroken tells a client that the one which is to be told for it is gone.
func RedirectionBroken(id int64) Reply { return Push(Bulk("tracking-redir-broken"), Integer(id)) }
