package admin

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"

	"redlock-proxy/commands/acl"
	"redlock-proxy/proxy"
)

// clientFamilies are about who is connected, and what they take.
func clientFamilies() []family {
	return []family{
		gauge("clients", "Clients that are connected.",
			func(p *picture) float64 { return float64(p.Clients) }),
		gauge("clients_max", "How many clients may be connected at once (max-clients).",
			func(p *picture) float64 { return float64(p.MaxClients) }),
		gauge("clients_subscribed", "Clients that listen to channels.",
			func(p *picture) float64 { return float64(p.Subscribed) }),
		gauge("clients_waiting", "Clients that wait for a lock (acquire-wait) or an element (BLPOP).",
			func(p *picture) float64 { return float64(p.Waiting) }),
		gauge("clients_tracking", "Clients that are told when keys change (CLIENT TRACKING).",
			func(p *picture) float64 { return float64(p.Tracking.Clients) }),
		gauge("tracked_keys", "Keys that these have read, or are about to.",
			func(p *picture) float64 { return float64(p.Tracking.Keys) }),
		gauge("tracked_items", "Of how many clients together each of these keys is.",
			func(p *picture) float64 { return float64(p.Tracking.Items) }),
		gauge("tracked_prefixes", "Prefixes of keys that clients are told of, read or not.",
			func(p *picture) float64 { return float64(p.Tracking.Prefixes) }),
		{describe("waits_total", "Acquires that have waited for a lock, by what came of it.", "outcome"),
			func(p *picture, as *prometheus.Desc, to chan<- prometheus.Metric) {
				count(to, as, p.WaitedGranted, "granted")
				count(to, as, p.WaitedRefused, "refused")
			}},
		counter("connections_total", "Connections that were served.",
			func(p *picture) float64 { return float64(p.Connections) }),
		counter("connections_rejected_total", "Connections that were turned away, as max-clients were there.",
			func(p *picture) float64 { return float64(p.Rejected) }),
		{describe("clients_cut_off_total", "Clients that were cut off: for a command that is too long (query), for replies that they did not read (output), or as all clients took too much and they most (memory).", "reason"),
			func(p *picture, as *prometheus.Desc, to chan<- prometheus.Metric) {
				count(to, as, p.QueryLimit, "query")
				count(to, as, p.OutputLimit, "output")
				count(to, as, p.Evicted, "memory")
			}},
		counter("wrong_passwords_total", "Wrong passwords that clients, or who asks the admin listener, have given.",
			func(p *picture) float64 { return float64(p.WrongPasswords) }),
		{describe("denied_total", "Commands that their users may not give: by the command itself, a key, a channel, or how much a user may take (limit).", "reason"),
			func(p *picture, as *prometheus.Desc, to chan<- prometheus.Metric) {
				for _, reason := range []acl.Reason{acl.ByCommand, acl.ByKey, acl.ByChannel, acl.ByLimit} {
					count(to, as, p.Denied[reason], reason.String())
				}
			}},
		counter("commands_delayed_total", "Commands that waited, as their user sends more than max-rate.",
			func(p *picture) float64 { return float64(p.Delayed) }),
		gauge("client_memory_bytes", "What all clients take together.",
			func(p *picture) float64 { return float64(p.ClientMemory) }),
		gauge("client_memory_max_bytes", "What all clients may take together (max-client-memory).",
			func(p *picture) float64 { return float64(p.MaxClientMemory) }),
		gauge("masters_memory_bytes", "What is taken for what masters answer, are asked and are owed.",
			func(p *picture) float64 { return float64(p.MastersMemory) }),
		gauge("client_longest_input_bytes", "What the client has sent that has sent most of what is not answered.",
			func(p *picture) float64 { return float64(p.LongestInput) }),
		gauge("client_longest_output_bytes", "What the client has not read that has not read most.",
			func(p *picture) float64 { return float64(p.LongestOutput) }),
		counter("network_input_bytes_total", "Bytes from clients.",
			func(p *picture) float64 { return float64(p.BytesIn) }),
		counter("network_output_bytes_total", "Bytes to clients.",
			func(p *picture) float64 { return float64(p.BytesOut) }),
		gauge("pubsub_channels", "Channels that clients of this proxy listen to.",
			func(p *picture) float64 { return float64(p.Channels) }),
		gauge("pubsub_shard_channels", "Shards' channels that clients of this proxy listen to.",
			func(p *picture) float64 { return float64(p.ShardChannels) }),
		gauge("scripts_cached", "Scripts that clients have loaded or run and this proxy keeps.",
			func(p *picture) float64 { return float64(p.Scripts) }),
		gauge("scripts_cached_bytes", "What these take.",
			func(p *picture) float64 { return float64(p.ScriptBytes) }),
		gauge("pubsub_patterns", "Patterns of channels that clients of this proxy listen to.",
			func(p *picture) float64 { return float64(p.Patterns) }),
	}
}

// commandFamilies are about what clients have sent.
func commandFamilies() []family {
	return []family{
		perCommand("commands_total", "Commands that were carried out, whatever came of it.",
			func(c *proxy.CommandFigures) float64 { return float64(c.Calls) }),
		perCommand("commands_failed_total", "Commands that were carried out and answered with an error.",
			func(c *proxy.CommandFigures) float64 { return float64(c.Failed) }),
		perCommand("commands_rejected_total", "Commands that were refused before they could be carried out.",
			func(c *proxy.CommandFigures) float64 { return float64(c.Rejected) }),
		perCommand("commands_seconds_total", "Time from reading commands until their replies were made.",
			func(c *proxy.CommandFigures) float64 { return c.Took.Seconds() }),
		counter("error_replies_total", "Replies that were errors.",
			func(p *picture) float64 { return float64(p.ErrorReplies) }),
		{describe("errors_total", "Replies that were errors, by their first word. Of these there are 128 at most.", "error"),
			func(p *picture, as *prometheus.Desc, to chan<- prometheus.Metric) {
				told := make(map[string]uint64, len(p.Errors)) // two may look alike
				for word, n := range p.Errors {
					told[label(word)] += n
				}
				for word, n := range told {
					count(to, as, n, word)
				}
			}},
	}
}

// perCommand is a counter for each command that was given.
func perCommand(name, help string, read func(*proxy.CommandFigures) float64) family {
	return family{describe(name, help, "command"), func(p *picture, as *prometheus.Desc, to chan<- prometheus.Metric) {
		for i := range p.Commands {
			to <- prometheus.MustNewConstMetric(as, prometheus.CounterValue, read(&p.Commands[i]), p.Commands[i].Name)
		}
	}}
}

// count tells a counter that has labels.
func count(to chan<- prometheus.Metric, as *prometheus.Desc, n uint64, labels ...string) {
	to <- prometheus.MustNewConstMetric(as, prometheus.CounterValue, float64(n), labels...)
}

// maxLabel is how many bytes of a word are shown that somebody else could have made up.
const maxLabel = 100

// label is a text as a label's value: a master, or a script, may say anything.
func label(text string) string {
	if len(text) > maxLabel {
		text = strings.ToValidUTF8(text[:maxLabel], "")
	}
	if utf8.ValidString(text) {
		return text
	}
	return strings.Trim(strconv.QuoteToASCII(text), `"`)
}
