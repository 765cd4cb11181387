package integration

import (
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"redlock-proxy/quorum/doctor"
)

// toldByDoctor is what the subcommand doctor finds, and its exit code.
func toldByDoctor(t *testing.T, args ...string) (found []doctorFinding, code int) {
	t.Helper()
	out, err := exec.Command(program(t), append([]string{"doctor", "--json"}, args...)...).Output()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		code = ended.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	var told struct{ Findings []doctorFinding }
	if err := json.Unmarshal(out, &told); err != nil {
		t.Fatalf("doctor says %q: %v", out, err)
	}
	return told.Findings, code
}

type doctorFinding struct {
	Finding, Severity, What, Means, Cure string
	Masters                              []string
}

// wantFound wants a finding of this name about a master, whose cure says so.
func wantFound(t *testing.T, found []doctorFinding, name, master, cure string) doctorFinding {
	t.Helper()
	for _, f := range found {
		if f.Finding == name && slices.Contains(f.Masters, master) && strings.Contains(f.Cure, cure) && f.What != "" && f.Means != "" {
			return f
		}
	}
	t.Errorf("%s of %s with the cure %q is not found in %+v", name, master, cure, found)
	return doctorFinding{}
}

// orders are the settings that a cure names.
var orders = regexp.MustCompile(`CONFIG SET ([a-z-]+) ([a-z0-9]+)`)

// cure carries out what was told.
func (f doctorFinding) cure(t *testing.T, m *Redis) {
	t.Helper()
	given := orders.FindAllStringSubmatch(f.Cure, -1)
	if len(given) == 0 {
		t.Errorf("the cure of %s cannot be carried out: %s", f.Finding, f.Cure)
	}
	for _, order := range given {
		if reply := ask(t, m, "CONFIG", "SET", order[1], order[2]); reply != "OK" {
			t.Errorf("%s: %v", order[0], reply)
		}
	}
}

func wantHealthy(t *testing.T, args ...string) {
	t.Helper()
	if found, code := toldByDoctor(t, args...); code != 0 || len(found) > 0 {
		t.Errorf("exit code %d, %+v", code, found)
	}
}

// TestDoctorFindsWhatIsWrongAndItsCureCures: masters are set wrongly in each way that can be cured
// by CONFIG SET, and what the doctor says is done to them.
func TestDoctorFindsWhatIsWrongAndItsCureCures(t *testing.T) {
	t.Parallel()
	masters := durableMasters(t, 3)
	args := append(flags(masters), "--max-clients", "100")
	mark(t, args...)
	wantHealthy(t, args...)
	for _, round := range [][]struct {
		master   int
		name     string
		settings []string
	}{
		{
			{0, "evicts", []string{"maxmemory", "1gb", "maxmemory-policy", "allkeys-lru"}},
			{1, "fsync", []string{"appendfsync", "everysec"}},
			{2, "fsync-on-rewrite", []string{"no-appendfsync-on-rewrite", "yes"}},
			{0, "timeout", []string{"timeout", "2"}},
			{1, "min-replicas", []string{"min-replicas-to-write", "1"}},
			{2, "maxclients", []string{"maxclients", "30"}},
		},
		{{0, "no-aof", []string{"appendonly", "no"}}, {1, "evicts", []string{"maxmemory-policy", "volatile-ttl"}}},
	} {
		for _, wrong := range round {
			for set := range slices.Chunk(wrong.settings, 2) {
				ask(t, masters[wrong.master], "CONFIG", "SET", set[0], set[1])
			}
		}
		found, _ := toldByDoctor(t, args...)
		if len(found) != len(round) {
			t.Errorf("%d settings are wrong, and it finds %+v", len(round), found)
		}
		for _, wrong := range round {
			m := masters[wrong.master]
			wantFound(t, found, wrong.name, m.Addr, "CONFIG SET "+wrong.settings[len(wrong.settings)-2]).cure(t, m)
		}
	}
	wantHealthy(t, args...)
}

// What servers hold and who uses them is found as well.
func TestDoctorFindsWhatBecameOfMasters(t *testing.T) {
	t.Parallel()
	masters := durableMasters(t, 3)
	args := append(flags(masters), "--max-clients", "100")
	found, code := toldByDoctor(t, args...)
	for _, m := range masters {
		wantFound(t, found, "unmarked", m.Addr, "--no-locks-held")
	}
	if code != 2 {
		t.Errorf("exit code %d of a new set", code)
	}
	mark(t, args...)
	ask(t, masters[0], "REPLICAOF", "127.0.0.1", "1")
	ask(t, masters[1], "DEL", "redlock-proxy:{marker}")
	ask(t, masters[2], "CONFIG", "SET", "maxmemory", "1mb")
	listening := direct(t, masters[2])
	listening.send("SUBSCRIBE", "__sentinel__:hello")
	listening.receive([]any{"subscribe", "__sentinel__:hello", int64(1)})
	found, _ = toldByDoctor(t, args...)
	wantFound(t, found, "replica", masters[0].Addr, "REPLICAOF NO ONE")
	wantFound(t, found, "quarantined", masters[1].Addr, "proxy")
	wantFound(t, found, "full", masters[2].Addr, "CONFIG SET maxmemory")
	wantFound(t, found, "failover", masters[2].Addr, "SENTINEL REMOVE")
	found, _ = toldByDoctor(t, append(args, "--max-ttl", "1m")...)
	wantFound(t, found, "foreign", masters[2].Addr, "alike")
}

// What cannot be a master, or not beside the others, is told apart.
func TestDoctorTellsServersApart(t *testing.T) {
	t.Parallel()
	plain := startMaster(t, RedisOptions{})
	lacking := startMaster(t, RedisOptions{Args: []string{"--databases", "8", "--rename-command", "EVALSHA", ""}})
	node := startMaster(t, RedisOptions{Args: []string{"--cluster-enabled", "yes"}})
	locked := startMaster(t, RedisOptions{Password: "secret"})
	relay := startRelay(t, plain.Addr)
	port, err := FreePort()
	must(t, err)
	gone := fmt.Sprint("127.0.0.1:", port)
	args := flags([]*Redis{plain, lacking, node, locked})
	found, code := toldByDoctor(t, append(args, "--master", relay.Addr, "--master", gone)...)
	wantFound(t, found, "databases", lacking.Addr, "databases")
	wantFound(t, found, "renamed", lacking.Addr, "rename-command")
	wantFound(t, found, "cluster", node.Addr, "cluster-enabled no")
	wantFound(t, found, "away", locked.Addr, "master-password-file")
	wantFound(t, found, "twin", relay.Addr, "leave one of the two out")
	wantFound(t, found, "away", gone, "start it")
	if code != 2 || !slices.ContainsFunc(found, func(f doctorFinding) bool { return f.Finding == "even" }) {
		t.Errorf("exit code %d, %+v", code, found)
	}
	if text := fmt.Sprint(found); strings.Contains(text, "secret") {
		t.Errorf("it tells the password: %s", text)
	}
}

// A user with the rights that conf/README.md names lacks nothing, and without one of them is told so.
func TestDoctorFindsTheRightsThatLack(t *testing.T) {
	t.Parallel()
	rights := rightsThatAreTold(t)
	asked := make(map[string]bool)
	for _, c := range slices.Concat(doctor.Calls, doctor.Dry) {
		asked[c.Name] = true
	}
	for _, right := range rights {
		if name, ok := strings.CutPrefix(right, "+"); ok && !asked[strings.ToUpper(name)] && !ofClients[name] {
			t.Errorf("conf/README.md names %s, and the doctor does not ask for it", name)
		}
	}
	masters := durableMasters(t, 3)
	mark(t, flags(masters)...)
	for _, m := range masters {
		ask(t, m, rights...)
	}
	args := append(flags(masters), "--max-clients", "100", "--master-user", "px", "--master-password-file", writeFile(t, "pw\n"), "--user", "default on nopass ~* &* +@all", "--acquire-wait", "1s")
	wantHealthy(t, args...)
	ask(t, masters[0], "ACL", "SETUSER", "px", "-evalsha", "-config|get", "-client|tracking")
	ask(t, masters[1], "ACL", "SETUSER", "px", "resetchannels")
	found, _ := toldByDoctor(t, args...)
	wantFound(t, found, "rights", masters[0].Addr, "+evalsha")
	wantFound(t, found, "rights", masters[0].Addr, "+config|get")
	wantFound(t, found, "rights", masters[0].Addr, "+client|tracking")
	wantFound(t, found, "rights", masters[1].Addr, "&redlock-proxy:{messages}")
}

// ofClients are rights that need not be asked for: what clients use themselves, and what Redis
// refuses nobody.
var ofClients = map[string]bool{
	"hset": true, "hdel": true, "hincrby": true, "lpush": true, "lpop": true, "rpop": true, "lmpop": true, "sadd": true, "srem": true,
	"zadd": true, "zrem": true, "zpopmin": true, "zpopmax": true, "zmpop": true, "incr": true, "hello": true, "auth": true,
}
