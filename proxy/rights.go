package proxy

import (
	"crypto/tls"
	"slices"

	"redlock-proxy/commands"
	"redlock-proxy/commands/acl"
)

// Knows tells whether a user has this password, and Operates whether he may give orders: for other doors than the
// clients' own.
func (s *Server) Knows(user, password string) bool { return s.dialect.Knows(user, password) }

func (s *Server) Operates(user string) bool { return s.dialect.Operates(user) }

// Anybody is the user that whoever names nobody is, "" if he is not let in.
func (s *Server) Anybody() (user string) {
	if s.dialect.Open() {
		return acl.Default
	}
	return ""
}

// Certified is the first of these names, which somebody has shown a certificate of, that is a user who may come so; ""
// if none is.
func (s *Server) Certified(names []string) (user string) { return s.dialect.Certified(names) }

// MayOnAll tells whether a user may call a command on all keys, by the name of its row.
func (s *Server) MayOnAll(user, command string) bool { return s.dialect.MayOnAll(user, command) }

// Looks tells whether a user may look into all locks, and what Looking gives whether he still may, as of each call.
func (s *Server) Looks(user string) bool { return s.dialect.Looks(user) }

func (s *Server) Looking(user string) (still func() bool) { return s.dialect.Looking(user) }

// SomebodyOperates tells whether there is a user who may give orders.
func (s *Server) SomebodyOperates() bool { return s.dialect.SomebodyOperates() }

// endUsers ends the connections of these users, of those alone who listen to something if it says so; me
// says that the one that asks is among them.
func (s *Server) endUsers(asker *conn, users []string, subscribers bool) (me bool) {
	for _, c := range s.matching(asker, commands.ClientFilter{}) {
		session := c.snapshot.Load()
		switch {
		case !slices.Contains(users, session.User) || subscribers && !session.Subscribed() && !session.Monitors:
		case c == asker:
			me = true
		default:
			c.cut()
		}
	}
	return me
}

// carryOutRights turns the effects of ACL into replies. It is false for any other.
func (c *conn) carryOutRights(a *commands.Action) bool {
	s := c.srv
	switch e := a.Effect.(type) {
	case commands.UsersChangedEffect:
		a.Close = s.endUsers(c, e.Users, e.Subscribers) || a.Close
		a.Reply = e.Reply
	case commands.ACLLogEffect:
		a.Reply = s.aclLog.latest(e.Count, wallMillis())
	case commands.ACLLogResetEffect:
		s.aclLog.reset()
		a.Reply = commands.OK
	case commands.ACLLoadEffect:
		a.Reply, a.Close = c.loadUsers()
	case commands.ACLSaveEffect:
		a.Reply = c.saveUsers()
	default:
		return false
	}
	return true
}

// loadUsers carries out ACL LOAD: all that the file says, or nothing. Connections of those who are gone, or others
// now, are ended; me says that the one that asks is among them.
func (c *conn) loadUsers() (reply commands.Reply, me bool) {
	if c.srv.cfg.ReadUsers == nil {
		return commands.NoACLFile, false
	}
	text, there, err := c.srv.cfg.ReadUsers()
	if !there {
		return commands.NoACLFile, false
	}
	var changed []string
	if err == nil {
		changed, err = c.srv.dialect.SetUsers(text)
	}
	if err != nil {
		return commands.ACLFileWrong(err), false
	}
	return commands.OK, c.srv.endUsers(c, changed, false)
}

func (c *conn) saveUsers() commands.Reply {
	if c.srv.cfg.WriteUsers == nil {
		return commands.NoACLFile
	}
	there, err := c.srv.cfg.WriteUsers(c.srv.dialect.UsersText())
	switch {
	case !there:
		return commands.NoACLFile
	case err != nil:
		c.srv.log.Error("the users cannot be written into their file", "error", err)
		return commands.ACLNotSaved
	}
	return commands.OK
}

// certified has the session be whom the client's certificate names, if that is a user who may come so.
func (c *conn) certified(over *tls.Conn) {
	state := over.ConnectionState()
	if len(state.VerifiedChains) == 0 {
		return
	}
	c.session.Certified(CertificateNames(&state))
	c.show()
}

// CertificateNames are the names that a client's certificate gives it, if it was verified: those of its SAN.
func CertificateNames(state *tls.ConnectionState) (names []string) {
	if state == nil || len(state.VerifiedChains) == 0 {
		return nil
	}
	leaf := state.PeerCertificates[0]
	names = append(names, leaf.DNSNames...)
	names = append(names, leaf.EmailAddresses...)
	for _, u := range leaf.URIs {
		names = append(names, u.String())
	}
	return names
}
