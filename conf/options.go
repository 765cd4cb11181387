package conf

import "time"

// Options are the options as written, before they are looked at together. The
// tags of a field are everything there is to know about it:
//
//	name         the flag, the key of the file and, in capitals, the variable
//	group        the heading in the help
//	placeholder  what the value looks like in the help
//	default      what holds if no source names the option
//	help         what it does, its unit and why the default is what it is
//	choice       the only words allowed
//	min, max     the range of a number or duration
//	live         SIGHUP changes it in a running proxy
//
// It has a field for each option, however many they are: one that stood in a struct of its
// heading would have two names, and the name that users know is flat.
type Options struct {
	Config string `name:"config" group:"config" placeholder:"PATH" help:"The TOML file to read. Its keys are the names of these options; unknown keys are errors. None by default: flags and environment are enough."`

	Listen          []string      `name:"listen" group:"clients" placeholder:"ADDRESS" default:"127.0.0.1:6380" help:"Where clients connect: host:port, :port for all interfaces, or unix:///path. Repeatable. The default is reachable from this machine alone, and one port beside Redis's own. Empty, as --listen= or [], it leaves TLS alone."`
	ProtectedMode   string        `name:"protected-mode" group:"clients" placeholder:"yes|no" default:"yes" choice:"yes,no" help:"Refuse to start with a listener that other machines can reach and neither a password nor client certificates: whoever can connect can take and free every lock."`
	Requirepass     Secret        `name:"requirepass" group:"clients" placeholder:"PASSWORD" live:"yes" help:"The password that clients must AUTH with. None by default, as with Redis. On the command line it shows in ps: use the variable or requirepass-file."`
	RequirepassFile string        `name:"requirepass-file" group:"clients" placeholder:"PATH" live:"yes" help:"A file that holds the password of requirepass and nothing else; one newline at its end is not part of it."`
	User            []string      `name:"user" group:"clients" placeholder:"RULES" help:"A user in the words of Redis's ACL SETUSER: a name, and what he may, as in 'billing on #<SHA-256 of the password> ~billing:* +@lock'. Repeatable; in the variable one a line. None by default: then there is default, who may do everything but what @operate is. Passwords after a > are read too, and show in ps when they are on the command line."`
	ACLFile         string        `name:"aclfile" group:"clients" placeholder:"PATH" help:"A file of users, a line each that begins with the word user, as Redis has it; ACL LOAD reads it again, and ACL SAVE writes it. Either this or user."`
	MaxClients      int           `name:"max-clients" group:"clients" placeholder:"N" default:"10000" min:"1" max:"1000000" help:"How many clients may be connected at once; one more gets Redis's error and is closed. The default is Redis's. Lowered, with a warning, if the process may not open so many files."`
	MaxClientMemory int           `name:"max-client-memory" group:"clients" placeholder:"BYTES" default:"0" min:"0" max:"1099511627776" help:"How many bytes all clients may take together before those that take most are cut off; 0 is 536870912, 512 MiB. Replies that they do not read count, commands that are not complete or not answered, subscriptions, transactions and scripts, as with Redis's maxmemory-clients. Ten thousand usual clients take a fifth of the default. The process takes up to a quarter more, and 20 to 30 MiB for itself."`
	Timeout         time.Duration `name:"timeout" group:"clients" placeholder:"DURATION" default:"0" min:"0" max:"8760h" help:"Close a client that has sent nothing for so long; 0 is never, as with Redis: clients keep idle connections in pools."`
	RedisVersion    string        `name:"redis-version" group:"clients" placeholder:"X.Y.Z" default:"7.2.0" help:"The version of Redis that clients are told: three numbers with dots. Clients choose their commands by it; the default is the first that has all those which most of them use. From 8.4.0 on they may send SET IFEQ and DELEX, which work here whatever the masters are."`
	TCPKeepalive    time.Duration `name:"tcp-keepalive" group:"clients" placeholder:"DURATION" default:"300s" min:"0" max:"24h" help:"Time between the keep-alive probes that find out clients whose machine is gone; 0 sends none. The default is Redis's."`
	ReusePort       string        `name:"reuse-port" group:"clients" placeholder:"yes|no" default:"no" choice:"yes,no" help:"Whether another process of the same user may listen at the same addresses (SO_REUSEPORT), if that is started with yes too; the path of a Unix socket is taken over by the newest. So a new proxy is there before the old one is ended. For Linux. The default has a second proxy that is started by mistake fail, as two would share the clients unseen."`

	TLSListen      []string `name:"tls-listen" group:"tls" placeholder:"ADDRESS" help:"Where clients connect with TLS, written like listen. Repeatable. None by default, as it needs a certificate."`
	TLSCertFile    string   `name:"tls-cert-file" group:"tls" placeholder:"PATH" live:"yes" help:"The certificate that clients are shown, in PEM, followed by those between it and its CA."`
	TLSKeyFile     string   `name:"tls-key-file" group:"tls" placeholder:"PATH" live:"yes" help:"The private key of tls-cert-file, in PEM and not encrypted."`
	TLSCACertFile  string   `name:"tls-ca-cert-file" group:"tls" placeholder:"PATH" live:"yes" help:"The CAs, in PEM, whose client certificates are accepted. Needed unless tls-auth-clients is no; the system's CAs are never used, as they sign for everybody."`
	TLSAuthClients string   `name:"tls-auth-clients" group:"tls" placeholder:"yes|no|optional" default:"yes" choice:"yes,no,optional" live:"yes" help:"Whether a TLS client must show a certificate (yes), may (optional: if it does, the certificate must be good), or is not asked (no). The default is Redis's."`

	AdminListen string   `name:"admin-listen" group:"admin" placeholder:"ADDRESS" help:"Where the proxy answers HTTP: host:port, :port for all interfaces, or unix:///path; the page to look into it by at /, /livez, /readyz, /metrics for Prometheus and, for users with the right to @operate, /debug/pprof/. The password is requirepass's, of the user default; /livez and /readyz are told without. None by default, but where embedded masters are started: there it is 127.0.0.1:6381, unless that is taken. Empty, as --admin-listen= or in the file, there is none."`
	AdminHost   []string `name:"admin-host" group:"admin" placeholder:"NAME" help:"A name by which the admin listener is asked, besides IP addresses, localhost and the host of admin-listen. Repeatable. Requests with any other are refused: a web page could have its own name lead here, and ask as if it were ours. None by default."`
	AdminTLS    string   `name:"admin-tls" group:"admin" placeholder:"yes|no" default:"no" choice:"yes,no" help:"Whether the admin listener speaks TLS: with the certificate of tls-cert-file, and as tls-auth-clients says. The default needs no certificate."`

	Master              []string      `name:"master" group:"masters" placeholder:"ADDRESS" help:"One Redis or Valkey master: host:port, redis://user:password@host:port, rediss://… for TLS, or unix:///path; ?name=a after a URL names it in the set, where it is otherwise called by its address. All proxies must name the masters alike. Repeatable; name an odd number, 3 or 5, on machines that fail independently. Names are resolved at each connection. None by default: embedded masters are started."`
	MasterUser          string        `name:"master-user" group:"masters" placeholder:"NAME" live:"yes" help:"The ACL user for masters whose URL names none. Empty by default: Redis's user default."`
	MasterPassword      Secret        `name:"master-password" group:"masters" placeholder:"PASSWORD" live:"yes" help:"The password for masters whose URL holds none. On the command line it shows in ps: use the variable or master-password-file."`
	MasterPasswordFile  string        `name:"master-password-file" group:"masters" placeholder:"PATH" live:"yes" help:"A file that holds the password of master-password and nothing else; one newline at its end is not part of it."`
	MasterTLSCACertFile string        `name:"master-tls-ca-cert-file" group:"masters" placeholder:"PATH" live:"yes" help:"The CAs, in PEM, that sign the certificates of rediss:// masters. The system's by default."`
	MasterTLSCertFile   string        `name:"master-tls-cert-file" group:"masters" placeholder:"PATH" live:"yes" help:"The client certificate, in PEM, to show to rediss:// masters. None by default."`
	MasterTLSKeyFile    string        `name:"master-tls-key-file" group:"masters" placeholder:"PATH" live:"yes" help:"The private key of master-tls-cert-file, in PEM and not encrypted."`
	MasterTLSServerName string        `name:"master-tls-server-name" group:"masters" placeholder:"NAME" live:"yes" help:"The name that the certificates of rediss:// masters must carry. By default each must carry the host it is reached by, which is safer: one stolen certificate then speaks for one master."`
	Embedded            int           `name:"embedded" group:"masters" placeholder:"N" default:"3" min:"0" max:"15" help:"How many in-memory masters to start inside this process if no master is named: for trying out, they keep nothing. 3 is the smallest number that has a quorum without one of them. 0 makes a forgotten master an error."`
	ConnectTimeout      time.Duration `name:"connect-timeout" group:"masters" placeholder:"DURATION" default:"500ms" min:"1ms" max:"1m" help:"How long connecting to a master may take, with TLS, AUTH and finding out who it is. The default is many round trips, and short enough to try again often."`
	MasterTimeout       time.Duration `name:"master-timeout" group:"masters" placeholder:"DURATION" default:"500ms" min:"1ms" max:"1m" help:"How long a master may owe an answer before its connection is given up. Decisions never wait for it, see acquire-timeout; the default lets a short pause pass."`
	ProbeInterval       time.Duration `name:"probe-interval" group:"masters" placeholder:"DURATION" default:"1s" min:"10ms" max:"1m" help:"How often an idle master is asked whether it is still there. A lost one is tried four times as often, so it is back in use within a second."`

	AcquireTimeout time.Duration `name:"acquire-timeout" group:"locks" placeholder:"DURATION" default:"250ms" min:"1ms" max:"1m" help:"How long the masters have to decide one command before the client hears NOQUORUM; never more than half of a lock's ttl. The default is far above a round trip and far below a lock's usual life. At most a tenth of max-ttl, and the same for all proxies."`
	MaxTTL         time.Duration `name:"max-ttl" group:"locks" placeholder:"DURATION" default:"5m" min:"5s" max:"168h" help:"The longest ttl that a lock is meant to have, at least 5s: masters are looked at once a second; over-max-ttl says what a longer one gets. It is also how long a master that lost its memory is kept from voting where it cannot catch up from others, so all proxies need the same. 5m is above the ttl of nearly every lock."`
	FirstStart     string        `name:"first-start" group:"locks" placeholder:"yes|no" default:"yes" choice:"yes,no" help:"Mark masters of which none is marked and none holds a key, as a new set or one that has lost everything, and let them vote when max-ttl has passed. No leaves that to redlock-proxy bootstrap."`
	OverMaxTTL     string        `name:"over-max-ttl" group:"locks" placeholder:"keep|refuse" default:"keep" choice:"keep,refuse" help:"What a lock that is a string gets whose ttl is over max-ttl, or that has none: keep it as Redis does, or refuse it with an error. The default breaks no client; INFO counts them, but for what transactions set. It is about SET and its kin, EXPIRE and PERSIST, and scripts that only extend: what other scripts set, and what INCR, HSET, SADD, ZADD and the like make, is neither refused nor counted, as libraries give such a key its ttl once it is made, or none."`
	MaxHold        time.Duration `name:"max-hold" group:"locks" placeholder:"DURATION" default:"0" min:"0" max:"8760h" help:"How long extensions that this proxy sees may keep one lock, so that nobody holds it for ever; 0 is as long as the client likes, as with Redis. It counts from when it first saw the lock taken, or extended by its token; EXPIRE and the like, PERSIST and a SET of the same value extend it as well. What GETEX, most transactions and scripts that are not recognised do to a lock it does not see, nor what is done through another proxy."`
	AcquireWait    time.Duration `name:"acquire-wait" group:"locks" placeholder:"DURATION" default:"0" min:"0" max:"24h" help:"How long a SET NX or SETNX, or a script of it, that meets a holder waits for the lock before it is refused, first come first served at this proxy; 0 is not at all, as with Redis. Clients that poll for a lock so become a queue, which costs masters an attempt a second while it waits. Keep it below the socket timeout of the clients. Whoever sends another command on the same connection is refused at once, and so does not wait: clients that share a connection among many, and transactions."`
	SplitRetries   int           `name:"split-retries" group:"locks" placeholder:"N" default:"3" min:"0" max:"100" help:"How often an acquire is tried again of which nobody got a quorum because several asked at once. After 3 it is rare that nobody won."`
	SplitDelay     time.Duration `name:"split-delay" group:"locks" placeholder:"DURATION" default:"25ms" min:"1ms" max:"10s" help:"The longest random wait before such a try, the shortest being a fifth of it: several round trips, so that one of the contenders is through before the other begins."`

	ScriptSteps  int `name:"script-steps" group:"locks" placeholder:"N" default:"10000" min:"100" max:"1000000" help:"How many turns of loops and calls of functions one call of a client's script may take of a master, that does nothing else meanwhile. The default is a few milliseconds mostly, and far above any lock script; an endless one costs its caller an error."`
	ScriptMemory int `name:"script-memory" group:"locks" placeholder:"BYTES" default:"1048576" min:"65536" max:"67108864" help:"How many bytes of strings one call of a client's script may make on a master. The default is far above any lock script."`

	LogLevel                string        `name:"log-level" group:"process" placeholder:"LEVEL" default:"info" choice:"trace,debug,info,warn,error" live:"yes" help:"The least severe lines that are logged, to standard error: trace, debug, info, warn or error. Nothing at info or above is written per command."`
	LogFormat               string        `name:"log-format" group:"process" placeholder:"text|json" default:"text" choice:"text,json" help:"How log lines are written: text for people, json for machines."`
	SlowlogSlowerThan       int           `name:"slowlog-log-slower-than" group:"process" placeholder:"MICROSECONDS" default:"10000" min:"-1" max:"9223372036854775" live:"yes" help:"How long the answer to a command takes that SLOWLOG lists, in microseconds, the masters included; 0 lists all, -1 none. The default is Redis's."`
	SlowlogMaxLen           int           `name:"slowlog-max-len" group:"process" placeholder:"N" default:"128" min:"0" max:"10000" live:"yes" help:"How many commands SLOWLOG keeps, the latest: names, keys and options, and nothing that could be a token. One takes up to 4 KiB, mostly a few hundred bytes. The default is Redis's."`
	LatencyMonitorThreshold int           `name:"latency-monitor-threshold" group:"process" placeholder:"MILLISECONDS" default:"0" min:"0" max:"9223372036854" live:"yes" help:"How long something takes that LATENCY tells of, in milliseconds: the answer to a command, masters included, or the round trip of a master. 0, as with Redis, is nothing; LATENCY HISTOGRAM and INFO latencystats count all commands in any case."`
	AuditLog                string        `name:"audit-log" group:"process" placeholder:"PATH" help:"Where it is written down, in lines of JSON, who has given which order, with its reason and its outcome, and who was denied something: a file that is appended to, or stdout or stderr. None by default. Orders are carried out also where it cannot be written. SIGHUP opens the file anew; another file needs a restart, so that nobody who may use CONFIG SET can have it end."`
	DrainTime               time.Duration `name:"drain-time" group:"process" placeholder:"DURATION" default:"0" min:"0" max:"10m" help:"How long after SIGTERM the proxy serves as before and says that it is not ready, so that what looks at /readyz leads clients elsewhere before connections are closed: twice as long as that takes to notice, for Kubernetes mostly 10s. The default is for where nothing looks, and waiting would be in vain. A second signal ends the wait."`
	ShutdownTimeout         time.Duration `name:"shutdown-timeout" group:"process" placeholder:"DURATION" default:"10s" min:"1ms" max:"10m" help:"How long clients have to get their answers, and masters the releases owed to them, after SIGTERM and drain-time. The default is Redis's. A second signal ends the process at once."`

	TraceEndpoint string  `name:"trace-endpoint" group:"traces" placeholder:"URL" help:"Where an OpenTelemetry collector takes traces by OTLP over HTTP: http://host:4318 or https://host, with /v1/traces behind it if no other path is named. None by default: nothing is traced. A collector that is slow or gone costs traces and nothing else."`
	TraceSample   float64 `name:"trace-sample" group:"traces" placeholder:"SHARE" default:"0.01" min:"0" max:"1" help:"Which share of the requests about locks is traced, from 0, none, to 1, all. One in a hundred shows what is usual, and costs next to nothing."`
}

// groups are the headings of the help, in order.
var groups = []struct{ key, title string }{
	{"config", "Configuration"},
	{"clients", "Clients"},
	{"tls", "Clients with TLS"},
	{"admin", "Admin listener"},
	{"masters", "Masters"},
	{"locks", "Locks"},
	{"process", "Process"},
	{"traces", "Traces"},
}
