package master

import (
	"errors"
	"strconv"
	"strings"

	"github.com/redis/rueidis"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/marker"
)

// What a server tells of itself by INFO and CONFIG GET: at the gate, and while a link is open.

// readInfo takes from INFO who the server is, and refuses one that is no
// master or not ready to be asked.
func readInfo(text string) (who marker.Identity, err error) {
	info := Fields(text)
	who.RunID, who.Version = info["run_id"], info["redis_version"]
	switch {
	case who.RunID == "":
		return who, errors.New("INFO names no run_id")
	case info["loading"] == "1":
		return who, errors.New("it is loading its data set")
	}
	if err := unfit(info); err != nil {
		return who, err
	}
	who.Replicas, _ = strconv.Atoi(info["connected_slaves"])
	if who.Evicted, err = strconv.Atoi(info["evicted_keys"]); err != nil {
		who.Evicted = marker.NotTold
	}
	who.Replication, who.Continued = info["master_replid"], strings.Trim(info["master_replid2"], "0") != ""
	who.Anew = info["aof_rewrite_in_progress"] == "1" || info["aof_rewrite_scheduled"] == "1"
	rewrites, told := info["aof_rewrites"]
	if !told {
		rewrites = info["total_forks"] // before 7.0, where snapshots count as well
	}
	who.Rewrites, _ = strconv.Atoi(rewrites)
	major, _, _ := strings.Cut(who.Version, ".")
	n, _ := strconv.Atoi(major)
	who.Seven = n >= 7
	return who, nil
}

// Fields are the lines of INFO by their names.
func Fields(text string) map[string]string {
	info := make(map[string]string)
	for line := range strings.SplitSeq(text, "\n") {
		if name, value, ok := strings.Cut(strings.TrimRight(line, "\r"), ":"); ok {
			info[name] = value
		}
	}
	return info
}

// durability is what must be set for every write to be on disk before it is
// answered.
var durability = [][2]string{{"appendonly", "yes"}, {"appendfsync", "always"}, {"no-appendfsync-on-rewrite", "no"}}

// isDurable reads what CONFIG GET said of each of them. A master that will not tell
// is not.
func isDurable(settings []decide.Answer) bool {
	for i, a := range settings {
		if len(a.Elems) != 2 || a.Elems[1].Str != durability[i][1] {
			return false
		}
	}
	return true
}

// AskInfo asks a server for what it tells of itself.
var AskInfo = rueidis.Builder{}.Arbitrary("INFO").Build().Pin()

// TakeInfo takes in what INFO said, the answer to AskInfo, as far as it can have changed since the
// gate. An error says why the server is none of ours any more, or not that one.
func (l *Link) TakeInfo(a decide.Answer) error {
	switch {
	case a.Err() != nil:
		return a.Err()
	case a.Kind != quorum.BulkReply:
		return ErrGarbage
	}
	now, err := readInfo(a.Str)
	switch {
	case err != nil:
		return err
	case now.RunID != l.Who.RunID:
		return errors.New("it names another run_id than at the gate")
	}
	l.Who.Evicted, l.Who.Replication, l.Who.Continued = now.Evicted, now.Replication, now.Continued
	l.Who.Anew, l.Who.Rewrites = now.Anew, now.Rewrites
	return nil
}

// Info asks for INFO at once, and takes it in.
func (l *Link) Info() error {
	a, _, err := l.Do("INFO")
	if err != nil {
		return err
	}
	return l.TakeInfo(a)
}

// Durable asks the master whether every write is on disk before it is answered.
func (l *Link) Durable() (bool, error) {
	var calls []rueidis.Completed
	for _, name := range durability {
		calls = append(calls, l.client.B().Arbitrary("CONFIG", "GET", name[0]).Build())
	}
	replies, _, err := l.Ask(calls...)
	if err != nil {
		return false, err
	}
	return isDurable(replies), nil
}
