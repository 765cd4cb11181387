package conf

import (
	"strconv"
	"strings"
)

// What redis-server is told, and is none of ours: whoever knows Redis tries it here. Each says what
// is there instead, or why nothing is.

const (
	keepsNothing = "it has no meaning here, as the proxy keeps nothing on disk: locks are on the masters; set it there (see doctor)"
	onMasters    = "it has no meaning here, as the proxy holds no keys: set it on the masters (see doctor)"
	noReplicas   = "it has no meaning here: name independent masters in master; none may be a replica, and no Sentinel is needed"
	noCluster    = "it has no meaning here: clients use the proxy as one Redis, and masters stand for themselves"
	foreground   = "leave it out: the proxy stays in the foreground; systemd, a container or & put it into the background"
	bindHere     = "write --listen HOST:PORT, such as 127.0.0.1:6380; repeat it for several"
	noModules    = "it has no meaning here: the proxy knows no modules"
	tlsListen    = "write --tls-listen HOST:PORT, with --tls-cert-file, --tls-key-file and --tls-ca-cert-file"
)

// redisOptions are the cures by the option of Redis.
var redisOptions = map[string]string{
	"port":                       "write --listen HOST:PORT, such as 127.0.0.1:6380, or :6380 for all interfaces",
	"bind":                       bindHere,
	"bind-source-addr":           "leave it out: the kernel chooses the address from which masters are dialled",
	"unixsocket":                 "write --listen unix:///path",
	"unixsocketperm":             "leave it out: the rights of the socket's directory say who reaches it",
	"tcp-backlog":                "leave it out: it is as long as the kernel allows (net.core.somaxconn)",
	"tls-port":                   tlsListen,
	"tls-ca-cert-dir":            "write --tls-ca-cert-file, a file with all CAs",
	"tls-protocols":              "leave it out: it is TLS 1.3, or 1.2 with forward secrecy",
	"maxmemory":                  "write --max-client-memory for what clients may take; the proxy holds no keys, and masters have a maxmemory of their own",
	"maxmemory-policy":           onMasters + ", and to noeviction",
	"maxmemory-clients":          "write --max-client-memory BYTES",
	"client-output-buffer-limit": "write --max-client-memory BYTES, for all that clients take together",
	"appendonly":                 keepsNothing,
	"appendfsync":                keepsNothing,
	"appendfilename":             keepsNothing,
	"appenddirname":              keepsNothing,
	"save":                       keepsNothing,
	"dbfilename":                 keepsNothing,
	"dir":                        keepsNothing,
	"rdbcompression":             keepsNothing,
	"databases":                  "leave it out: there are 16, those of the masters",
	"hz":                         onMasters,
	"replicaof":                  noReplicas,
	"slaveof":                    noReplicas,
	"min-replicas-to-write":      noReplicas,
	"sentinel":                   noReplicas,
	"masterauth":                 "write --master-password-file PATH, and --master-user NAME",
	"masteruser":                 "write --master-user NAME, and --master-password-file PATH",
	"cluster-enabled":            noCluster,
	"cluster-config-file":        noCluster,
	"cluster-node-timeout":       noCluster,
	"daemonize":                  foreground,
	"pidfile":                    foreground,
	"supervised":                 "leave it out: systemd is told by itself where it asks to be (Type=notify)",
	"logfile":                    "leave it out: the log goes to standard error",
	"loglevel":                   "write --log-level",
	"syslog-enabled":             "leave it out: the log goes to standard error, which systemd's journal takes",
	"include":                    "leave it out: there is one file, and variables and flags count before it",
	"loadmodule":                 noModules,
	"io-threads":                 "leave it out: the proxy uses all processors, or as many as GOMAXPROCS says",
	"lua-time-limit":             "write --script-steps N: scripts are bounded by what they do",
	"busy-reply-threshold":       "write --script-steps N: scripts are bounded by what they do",
	"notify-keyspace-events":     "it has no meaning here: there are no keyspace events; who waits for a lock can SUBSCRIBE, or ask again",
	"rename-command":             "it has no meaning here: what is no command about locks is refused anyway, and what is dangerous but for users with the right to @operate",
	"allow-dangerous":            "give a user the right to @operate instead: --user 'default on nopass ~* &* +@all'",
}

// redisCure is the cure for an option of Redis that is none here, "" of any other; value is what
// was given with it.
func redisCure(name, value string) string {
	if _, err := strconv.ParseUint(value, 10, 16); err == nil && (name == "port" || name == "tls-port") {
		option := strings.Replace(name, "port", "listen", 1)
		return "write --" + option + " 127.0.0.1:" + value + ", or --" + option + " :" + value + " for all interfaces"
	}
	return redisOptions[name]
}

// redisFile tells that an argument is a file as redis-server takes one.
func redisFile(argument string) bool {
	return strings.HasSuffix(argument, ".conf") || strings.HasSuffix(argument, ".toml") || strings.HasPrefix(argument, "/") || argument == "-"
}

const redisFileCure = "write --config PATH; it is TOML with this program's options, as redlock-proxy.toml beside the source shows, and no redis.conf"
