package proxy

import (
	"fmt"
	"maps"
	"os"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"time"

	"redlock-proxy/commands/acl"
)

// section is one part of INFO. Its fields are Redis's where they mean
// something here; a field that other programs look for and that counts what a
// proxy cannot have is 0.
type section struct {
	name, title string
	usual       bool // shown by INFO without arguments
	write       func(*infoText)
}

var sections = []section{
	{"server", "Server", true, (*infoText).server},
	{"clients", "Clients", true, (*infoText).clients},
	{"memory", "Memory", true, (*infoText).memory},
	{"persistence", "Persistence", true, (*infoText).persistence},
	{"stats", "Stats", true, (*infoText).stats},
	{"replication", "Replication", true, (*infoText).replication},
	{"cpu", "CPU", true, (*infoText).cpu},
	{"modules", "Modules", true, func(*infoText) {}},
	{"commandstats", "Commandstats", false, (*infoText).commandStats},
	{"latencystats", "Latencystats", false, (*infoText).latencyStats},
	{"errorstats", "Errorstats", true, (*infoText).errorStats},
	{"cluster", "Cluster", true, (*infoText).cluster},
	{"keyspace", "Keyspace", true, (*infoText).keyspace},
	{"quorum", "Quorum", true, (*infoText).quorum},
}

// info is the text of INFO for the sections named: in the order of the table,
// with an empty line between them, nothing for a name that is not known.
func (s *Server) info(names []string) string {
	wanted := func(sec section) bool { return sec.usual }
	if len(names) > 0 {
		wanted = func(sec section) bool {
			return slices.ContainsFunc(names, func(name string) bool {
				switch name = strings.ToLower(name); name {
				case "default":
					return sec.usual
				case "all":
					return sec.name != "modules"
				case "everything":
					return true
				}
				return name == sec.name
			})
		}
	}
	t := infoText{srv: s}
	for _, sec := range sections {
		if !wanted(sec) {
			continue
		}
		if t.Len() > 0 {
			t.WriteString("\r\n")
		}
		t.line("# %s", sec.title)
		sec.write(&t)
	}
	return t.String()
}

// infoText is the text of INFO as it is written; each section is a method.
type infoText struct {
	srv *Server
	strings.Builder
}

func (t *infoText) line(format string, values ...any) {
	fmt.Fprintf(t, format+"\r\n", values...)
}

func (t *infoText) server() {
	t.srv.mu.Lock()
	port := t.srv.port
	t.srv.mu.Unlock()
	executable, _ := os.Executable()
	up := t.srv.clock()
	t.line("redis_version:%s", t.srv.cfg.Commands.Version)
	t.line("redis_mode:standalone")
	t.line("redlock_proxy_version:%s", t.srv.cfg.ProgramVersion)
	t.line("os:%s", osText())
	t.line("arch_bits:%d", wordBits)
	t.line("go_version:%s", runtime.Version())
	t.line("process_id:%d", os.Getpid())
	t.line("run_id:%s", t.srv.runID)
	t.line("tcp_port:%d", port)
	t.line("server_time_usec:%d", time.Now().UnixMicro())
	t.line("uptime_in_seconds:%d", up/time.Second)
	t.line("uptime_in_days:%d", up/(24*time.Hour))
	t.line("executable:%s", executable)
	t.line("config_file:%s", t.srv.cfg.ConfigFile)
}

const wordBits = 32 << (^uint(0) >> 63)

func (t *infoText) clients() {
	clients, listening, longestInput, longestOutput := t.srv.clientFigures()
	t.line("connected_clients:%d", clients)
	t.line("cluster_connections:0")
	t.line("maxclients:%d", t.srv.cfg.MaxClients)
	t.line("client_recent_max_input_buffer:%d", longestInput)
	t.line("client_recent_max_output_buffer:%d", longestOutput)
	t.line("blocked_clients:%d", t.srv.room.count.Load()+t.srv.blocked.count.Load())
	t.line("tracking_clients:%d", t.srv.tracking.clients.Load())
	t.line("pubsub_clients:%d", listening)
	t.line("clients_in_timeout_table:0")
}

func (t *infoText) memory() {
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/total:bytes"}, {Name: "/sched/goroutines:goroutines"}}
	metrics.Read(samples)
	t.line("used_memory:%d", samples[0].Value.Uint64())
	t.line("used_memory_rss:%d", samples[1].Value.Uint64())
	t.line("maxmemory:0")
	t.line("maxmemory_policy:noeviction")
	t.line("mem_clients_normal:%d", t.srv.memory.used.Load())
	t.line("maxmemory_clients:%d", t.srv.memory.most)
	t.line("mem_allocator:go")
	t.line("goroutines:%d", samples[2].Value.Uint64())
	scripts, scriptBytes := 0, 0
	if t.srv.dialect != nil {
		scripts, scriptBytes = t.srv.dialect.Scripts()
	}
	t.line("used_memory_scripts:%d", scriptBytes)
	t.line("used_memory_scripts_eval:%d", scriptBytes)
	t.line("number_of_cached_scripts:%d", scripts)
	t.line("number_of_functions:0")
	t.line("number_of_libraries:0")
}

// persistence: drivers wait while "loading" is not 0.
func (t *infoText) persistence() {
	t.line("loading:0")
	t.line("async_loading:0")
}

func (t *infoText) stats() {
	st := t.srv.stats
	rates := st.rates()
	t.line("total_connections_received:%d", st.connections.Load())
	t.line("total_commands_processed:%d", st.processed())
	t.line("instantaneous_ops_per_sec:%.0f", rates.ops)
	t.line("total_net_input_bytes:%d", st.input.Load())
	t.line("total_net_output_bytes:%d", st.output.Load())
	t.line("instantaneous_input_kbps:%.2f", rates.input/1024)
	t.line("instantaneous_output_kbps:%.2f", rates.output/1024)
	t.line("rejected_connections:%d", st.rejectedConnections.Load())
	t.line("expired_keys:0")
	t.line("evicted_keys:0")
	t.line("keyspace_hits:0")
	t.line("keyspace_misses:0")
	channels, shards, patterns := t.srv.subscribers.totals()
	tracking := t.srv.tracking.figures()
	t.line("tracking_total_keys:%d", tracking.Keys)
	t.line("tracking_total_items:%d", tracking.Items)
	t.line("tracking_total_prefixes:%d", tracking.Prefixes)
	t.line("pubsub_channels:%d", channels)
	t.line("pubsub_patterns:%d", patterns)
	t.line("pubsubshard_channels:%d", shards)
	t.line("total_error_replies:%d", st.errorReplies.Load())
	t.line("acl_access_denied_auth:%d", st.authFailures.Load())
	t.line("acl_access_denied_cmd:%d", st.denied[acl.ByCommand].Load())
	t.line("acl_access_denied_key:%d", st.denied[acl.ByKey].Load())
	t.line("acl_access_denied_channel:%d", st.denied[acl.ByChannel].Load())
	t.line("acl_access_denied_limit:%d", st.denied[acl.ByLimit].Load())
	t.line("commands_delayed:%d", st.delayed.Load())
	t.line("client_query_buffer_limit_disconnections:%d", st.queryLimit.Load())
	t.line("client_output_buffer_limit_disconnections:%d", st.outputLimit.Load())
	t.line("evicted_clients:%d", st.evicted.Load())
	t.line("log_lines_lost:%d", t.srv.logLost())
	t.line("audit_lines_lost:%d", t.srv.cfg.Audit.Lost())
}

func (s *Server) logLost() uint64 {
	if s.cfg.LogLost == nil {
		return 0
	}
	return s.cfg.LogLost()
}

func (t *infoText) replication() {
	t.line("role:master")
	t.line("connected_slaves:0")
	t.line("master_failover_state:no-failover")
	t.line("master_replid:%s", t.srv.runID)
	t.line("master_repl_offset:0")
}

func (t *infoText) cpu() {
	user, system := cpuTimes()
	t.line("used_cpu_sys:%.6f", system.Seconds())
	t.line("used_cpu_user:%.6f", user.Seconds())
	t.line("used_cpu_sys_children:0.000000")
	t.line("used_cpu_user_children:0.000000")
}

func (t *infoText) cluster() { t.line("cluster_enabled:0") }

func (t *infoText) commandStats() {
	for _, c := range t.srv.stats.inOrder() {
		row := &t.srv.stats.commands[c.Index]
		calls, rejected, failed := row.took.counts().calls(), row.rejected.Load(), row.failed.Load()
		if calls+rejected+failed == 0 {
			continue
		}
		usec := row.nanos.Load() / 1000
		t.line("cmdstat_%s:calls=%d,usec=%d,usec_per_call=%.2f,rejected_calls=%d,failed_calls=%d",
			c.Name, calls, usec, float64(usec)/float64(max(calls, 1)), rejected, failed)
	}
}

func (t *infoText) errorStats() {
	kinds := t.srv.stats.errorKinds()
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		t.line("errorstat_%s:count=%d", kind, kinds[kind])
	}
}
