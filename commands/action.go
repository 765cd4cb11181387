package commands

import (
	"redlock-proxy/commands/acl"
	"redlock-proxy/quorum"
)

// Action is what one command of a client comes to. Exactly one of Reply,
// Requests and Effect is set.
type Action struct {
	// Command is the command's row in the table, nil if there is none of that
	// name. It names the command in the statistics.
	Command *Command

	// Reply is the answer where no master and no other connection need be asked.
	Reply Reply

	// Requests are put to the masters in this order; when all results are in,
	// Render makes the reply of them. The slice is the session's until its next
	// command: who needs it longer makes a copy.
	Requests []quorum.Request
	Render   Render // nil where there are no Requests

	// Continues says that Render may come to further requests. The client's
	// later commands on the same keys then wait for the reply, as they wait
	// behind an acquire.
	Continues bool

	// Block says that where the one request finds nothing, the client waits for that; nil: he does not.
	Block *Block

	// Anywhere says that Requests which follow from results name their databases. Those of others
	// are about the one that the command came in.
	Anywhere bool

	// Frees says of a script, or a transaction, that it names what deletes a key, and may so
	// free a lock. Of other commands their requests tell that.
	Frees bool

	// Tracks are the keys that it reads for a client that is to be told when they change.
	Tracks []string

	// Effect is what only the server can do or knows.
	Effect Effect

	// Rejected says that Reply is an error given before the command could run
	// (unknown, arity, NOAUTH): Redis counts those as rejected calls, the
	// others as failed ones.
	Rejected bool

	// Denied: the client has given a wrong password.
	Denied bool

	// Forbidden is why DeniedUser may not do this, also for a wrong password; the zero value is that
	// he may.
	Forbidden  acl.Denial
	DeniedUser string

	// Muted: the client asked for silence (CLIENT REPLY OFF or SKIP). The
	// command is carried out and its reply dropped.
	Muted bool

	// Close: the connection ends once the reply is written.
	Close bool
}

// Render turns results into a reply. It is a value, so that it can be kept,
// compared and tested.
type Render interface {
	// Render takes the results in the order of the requests. If next has any
	// requests, there is no reply yet: those are put, and their results go to
	// next's Render.
	Render(results []quorum.Result) (reply Reply, next Action)
}

// SlowRender is a Render that may have much to do. Where it has, with these results, it is
// not run by whoever brings the last of them: lanes wait for that one.
type SlowRender interface {
	Render

	// Slow tells whether Render has much to do with these results. Render or Forgo follows.
	Slow(results []quorum.Result) bool

	Forgoer
}

// Forgoer is a Render that is to know if it is not called.
type Forgoer interface {
	// Forgo is instead of Render, where nobody is left to be answered, or not all was put.
	Forgo()
}

// Effect is a question to the server or an order to it: one of the Effect
// types below.
type Effect interface{ effect() }

type (
	// InfoEffect answers INFO with these sections, lower case; none means the default ones.
	InfoEffect struct{ Sections []string }
	// TimeEffect answers TIME by the masters' clocks.
	TimeEffect struct{}
	// SelectEffect makes a database ready; then Session.Selected makes the reply. DB is 0 or
	// more, and may be one that the masters do not have.
	SelectEffect struct{ DB int }
	// ClientInfoEffect answers CLIENT INFO.
	ClientInfoEffect struct{}
	// ClientListEffect answers CLIENT LIST: those that match.
	ClientListEffect struct{ Filter ClientFilter }
	// ClientKillEffect ends the connections that match. Old is the form
	// CLIENT KILL addr:port, answered with OK or an error instead of a number.
	ClientKillEffect struct {
		Filter ClientFilter
		Old    bool
	}
	// ClientUnblockEffect has the client's acquire wait no longer, if it does: it is refused, or answered with the error
	// Unblocked. It is answered with how many clients that were, 1 or 0.
	ClientUnblockEffect struct {
		ID    int64
		Error bool
	}

	// TrackingEffect has the client be told when keys change, by Session.Tracks once that can be done.
	TrackingEffect struct {
		Tracking
		Prefixes []string // further ones
	}

	// MastersEffect answers how the masters stand.
	MastersEffect struct{}
	// AdmitEffect ends the quarantine of the master of that name, which the client may have
	// invented, and is answered with what that amounts to.
	AdmitEffect struct{ Master, Reason string }
	// DrainEffect has this proxy ask a master for no votes until a ResumeEffect.
	DrainEffect struct {
		Master string
		Force  bool // also if it takes the quorum away
		Reason string
	}
	// ResumeEffect ends that.
	ResumeEffect struct{ Master, Reason string }

	// StatusEffect answers whether locks can be had, and whether this proxy may be restarted.
	StatusEffect struct{}
	// ProxiesEffect asks which proxies there are: Session.Proxies makes the reply.
	ProxiesEffect struct{}

	// SlowlogGetEffect answers the latest Count entries of the slow log, newest first; all for -1.
	SlowlogGetEffect struct{ Count int64 }
	// SlowlogLenEffect answers how many there are.
	SlowlogLenEffect struct{}
	// SlowlogResetEffect forgets them, and is answered with OK.
	SlowlogResetEffect struct{}

	// LatencyLatestEffect answers LATENCY LATEST, LatencyHistoryEffect LATENCY HISTORY of an event
	// that the client may have invented, and LatencyDoctorEffect LATENCY DOCTOR.
	LatencyLatestEffect  struct{}
	LatencyHistoryEffect struct{ Event string }
	LatencyDoctorEffect  struct{}
	// LatencyResetEffect forgets these events, all if there are none, and answers how many.
	LatencyResetEffect struct{ Events []string }
	// LatencyHistogramEffect answers for these rows, where they have been called; nil is all.
	LatencyHistogramEffect struct{ Commands []*Command }

	// MemoryStatsEffect answers MEMORY STATS, and MemoryDoctorEffect MEMORY DOCTOR.
	MemoryStatsEffect  struct{}
	MemoryDoctorEffect struct{}
	// MemoryPurgeEffect gives memory that is not used back to the system, and is answered with OK.
	MemoryPurgeEffect struct{}

	// UsersChangedEffect ends the connections of users that are gone, or are others now, and is
	// answered with Reply.
	UsersChangedEffect struct {
		Users       []string
		Subscribers bool // those alone that are subscribed to something
		Reply       Reply
	}
	// ACLLogEffect answers the latest Count denials, newest first, and ACLLogResetEffect forgets all.
	ACLLogEffect      struct{ Count int64 }
	ACLLogResetEffect struct{}
	// ACLLoadEffect reads the users from their file, and ACLSaveEffect writes them into it.
	ACLLoadEffect struct{}
	ACLSaveEffect struct{}

	// MonitorEffect tells the client of every command from then on, but first that it is so: OK.
	// It ends when Snapshot.Monitors does.
	MonitorEffect struct{}

	// ConfigSetEffect gives options other values, all of them or none, ConfigRewriteEffect writes
	// them into the configuration file, and ConfigResetStatEffect has INFO count from 0 again.
	ConfigSetEffect       struct{ Settings []Setting }
	ConfigRewriteEffect   struct{}
	ConfigResetStatEffect struct{}

	// SubscribeEffect asks for messages: Session.Subscribed carries it out once
	// they can be heard, in the same step in which the server notes it.
	SubscribeEffect struct {
		Names    []string // at least one: channels of one kind, spelled as quorum.Channel has it, or patterns
		Patterns bool
	}
	// UnsubscribeEffect ends subscriptions that were there, and is answered
	// with Reply.
	UnsubscribeEffect struct {
		Channels, Patterns []string
		Reply              Reply
	}
	// PublishEffect answers how often the message was delivered. The channel is spelled.
	PublishEffect struct{ Channel, Message string }
	// ChannelsEffect answers PUBSUB CHANNELS: those that somebody is subscribed
	// to, All or those that match, ordinary ones or Shards'.
	ChannelsEffect struct {
		Pattern string
		All     bool
		Shards  bool
	}
	// NumPatEffect answers how many patterns there are.
	NumPatEffect struct{}
	// NumSubEffect answers each channel, in their order, with how many subscribers it has. They are
	// spelled.
	NumSubEffect struct{ Channels []string }
)

func (InfoEffect) effect()       {}
func (TimeEffect) effect()       {}
func (SelectEffect) effect()     {}
func (ClientInfoEffect) effect() {}
func (ClientListEffect) effect() {}
func (ClientKillEffect) effect() {}

func (ClientUnblockEffect) effect() {}
func (TrackingEffect) effect()      {}

func (MastersEffect) effect() {}
func (AdmitEffect) effect()   {}
func (DrainEffect) effect()   {}
func (ResumeEffect) effect()  {}
func (StatusEffect) effect()  {}
func (ProxiesEffect) effect() {}

func (SlowlogGetEffect) effect()   {}
func (SlowlogLenEffect) effect()   {}
func (SlowlogResetEffect) effect() {}

func (LatencyLatestEffect) effect()    {}
func (LatencyHistoryEffect) effect()   {}
func (LatencyDoctorEffect) effect()    {}
func (LatencyResetEffect) effect()     {}
func (LatencyHistogramEffect) effect() {}

func (MemoryStatsEffect) effect()     {}
func (MemoryDoctorEffect) effect()    {}
func (MemoryPurgeEffect) effect()     {}
func (UsersChangedEffect) effect()    {}
func (ACLLogEffect) effect()          {}
func (ACLLogResetEffect) effect()     {}
func (ACLLoadEffect) effect()         {}
func (ACLSaveEffect) effect()         {}
func (MonitorEffect) effect()         {}
func (ConfigSetEffect) effect()       {}
func (ConfigRewriteEffect) effect()   {}
func (ConfigResetStatEffect) effect() {}

func (SubscribeEffect) effect()   {}
func (UnsubscribeEffect) effect() {}
func (PublishEffect) effect()     {}
func (ChannelsEffect) effect()    {}
func (NumPatEffect) effect()      {}
func (NumSubEffect) effect()      {}

// ClientFilter names connections. A zero field matches every connection.
type ClientFilter struct {
	IDs    []int64
	Type   string // normal, master, replica, pubsub
	Addr   string // ip:port of the client
	LAddr  string // ip:port it connected to
	User   string
	SkipMe bool  // not the connection that asks
	MaxAge int64 // seconds; only connections that are at least this old
}
