package conf

import (
	"strings"
	"testing"
)

// Whoever comes from Redis, or mistypes a command, is told what to write.
func TestWrongArgumentsAreAnsweredByTheRightOnes(t *testing.T) {
	for args, want := range map[string]string{
		"statsu":                             "command line: there is no command statsu; did you mean status?",
		"boostrap --no-locks-held":           "command line: there is no command boostrap; did you mean bootstrap?",
		"change_master --from a:1 --bogus":   "did you mean change-masters?\ncommand line: unknown flag --bogus; see --help",
		"start":                              "command line: there is no command start; did you mean serve?",
		"help":                               "command line: unexpected argument help; write --help",
		"ping pong":                          "command line: unexpected argument pong; see --help",
		"-- statsu":                          "did you mean status?",
		"nonsense":                           "command line: unexpected argument nonsense; see --help",
		"/etc/redis/redis.conf":              "command line: unexpected argument /etc/redis/redis.conf; write --config PATH; it is TOML",
		"--port 6380":                        "command line: --port is an option of Redis, and none of this proxy; write --listen 127.0.0.1:6380, or --listen :6380 for all interfaces",
		"--tls-port=6380":                    "write --tls-listen 127.0.0.1:6380",
		"--port -1":                          "write --listen HOST:PORT",
		"--save 900 1 300 10 --appendonly":   "--save is an option of Redis, and none of this proxy; it has no meaning here, as the proxy keeps nothing on disk: locks are on the masters; set it there (see doctor)\ncommand line: --appendonly is",
		"--bind 127.0.0.1 ::1 --maxmemory 1": "--maxmemory is an option of Redis, and none of this proxy; write --max-client-memory",
		"--cluster-enabled yes":              "masters stand for themselves",
		"--replicaof h 1":                    "name independent masters in master",
		"--maxclients 5":                     `command line: unknown flag --maxclients, did you mean "--max-clients"?`,
		"check --daemonize yes":              "stays in the foreground",
	} {
		if text := wrong(t, nil, strings.Fields(args)...); !strings.Contains(text, want) {
			t.Errorf("%s: it says\n%s\nwant\n%s", args, text, want)
		}
	}
	if text := wrong(t, nil, "--save", "900", "1", "--bind", "a", "b"); strings.Count(text, "\n") != 1 {
		t.Errorf("for two options it says\n%s", text)
	}
	if text := wrong(t, nil, "--requirepass", "a", "statsu"); strings.Contains(text, "statsu") || strings.Contains(text, "status") {
		t.Errorf("it shows what may be a part of a password: %s", text)
	}
}

// None of Redis's options that are told apart is one of ours, and what is to be written is there.
func TestWhatIsToldOfRedisOptionsIsSo(t *testing.T) {
	for name, cure := range redisOptions {
		if lookup(name) != nil {
			t.Errorf("%s is an option", name)
		}
		for word := range strings.FieldsSeq(cure) {
			if flag, ok := strings.CutPrefix(strings.TrimRight(word, ",;:"), "--"); ok && lookup(flag) == nil {
				t.Errorf("of %s it is told of --%s, which is none", name, flag)
			}
		}
	}
	for word, command := range meant {
		if command != "--help" && commandOf(command).String() != command {
			t.Errorf("%s is to mean %s, which is no command", word, command)
		}
	}
	if text := suggestion("appendonly"); !strings.Contains(text, "keeps nothing on disk") {
		t.Errorf("in the file: %s", text)
	}
}

func TestEveryCommandIsInTheHelpAndHasItsWord(t *testing.T) {
	told, _, _ := trace(nil)
	if len(told.Model.Children) != len(commandNames()) {
		t.Errorf("the grammar has %d commands, and there are %q", len(told.Model.Children), commandNames())
	}
	for _, c := range told.Model.Children {
		if commandOf(c.Name).String() != c.Name {
			t.Errorf("%s has no word", c.Name)
		}
	}
}

func TestValueMayBeginWithADash(t *testing.T) {
	c := load(t, nil, "--slowlog-log-slower-than", "-1", "--requirepass", "-secret", "--max-clients", "5")
	if c.SlowlogSlowerThan != -1 || c.Password != "-secret" || c.MaxClients != 5 {
		t.Errorf("slowlog-log-slower-than %d, requirepass %q, max-clients %d", c.SlowlogSlowerThan, string(c.Password), c.MaxClients)
	}
	if c := load(t, nil, "check", "--max-clients", "5", "-h"); c.Command != ShowHelp {
		t.Errorf("-h is %v", c.Command)
	}
}
