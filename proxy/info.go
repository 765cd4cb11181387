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
)

// section is one part of INFO. Its fields are Redis's where they mean
// something here; a field that other programs look for and that counts what a
// proxy cannot have is 0.
type section struct {
	name, title string
	usual       bool // shown by INFO without arguments
	write       func(s *Server, b *strings.Builder)
}

var sections = []section{
	{"server", "Server", true, (*Server).infoServer},
	{"clients", "Clients", true, (*Server).infoClients},
	{"memory", "Memory", true, (*Server).infoMemory},
	{"persistence", "Persistence", true, (*Server).infoPersistence},
	{"stats", "Stats", true, (*Server).infoStats},
	{"replication", "Replication", true, (*Server).infoReplication},
	{"cpu", "CPU", true, (*Server).infoCPU},
	{"modules", "Modules", true, func(*Server, *strings.Builder) {}},
	{"commandstats", "Commandstats", false, (*Server).infoCommandStats},
	{"errorstats", "Errorstats", true, (*Server).infoErrorStats},
	{"cluster", "Cluster", true, (*Server).infoCluster},
	{"keyspace", "Keyspace", true, func(*Server, *strings.Builder) {}},
	{"quorum", "Quorum", true, (*Server).infoQuorum},
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
	var b strings.Builder
	for _, sec := range sections {
		if !wanted(sec) {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\r\n")
		}
		line(&b, "# %s", sec.title)
		sec.write(s, &b)
	}
	return b.String()
}

func line(b *strings.Builder, format string, values ...any) {
	fmt.Fprintf(b, format+"\r\n", values...)
}

func (s *Server) infoServer(b *strings.Builder) {
	s.mu.Lock()
	port := s.port
	s.mu.Unlock()
	executable, _ := os.Executable()
	up := s.clock()
	line(b, "redis_version:%s", s.cfg.Commands.Version)
	line(b, "redis_mode:standalone")
	line(b, "redlock_proxy_version:%s", s.cfg.ProgramVersion)
	line(b, "os:%s", osText())
	line(b, "arch_bits:%d", wordBits)
	line(b, "go_version:%s", runtime.Version())
	line(b, "process_id:%d", os.Getpid())
	line(b, "run_id:%s", s.runID)
	line(b, "tcp_port:%d", port)
	line(b, "server_time_usec:%d", time.Now().UnixMicro())
	line(b, "uptime_in_seconds:%d", up/time.Second)
	line(b, "uptime_in_days:%d", up/(24*time.Hour))
	line(b, "executable:%s", executable)
	line(b, "config_file:%s", s.cfg.ConfigFile)
}

const wordBits = 32 << (^uint(0) >> 63)

func (s *Server) infoClients(b *strings.Builder) {
	s.mu.Lock()
	conns := s.connections()
	s.mu.Unlock()
	var longestInput int64
	longestOutput, listening := 0, 0
	for _, c := range conns {
		longestInput = max(longestInput, c.pending.Load())
		if c.shown.Load().Subscribed() {
			listening++
		}
		c.mu.Lock()
		longestOutput = max(longestOutput, c.unread)
		c.mu.Unlock()
	}
	line(b, "connected_clients:%d", len(conns))
	line(b, "cluster_connections:0")
	line(b, "maxclients:%d", s.cfg.MaxClients)
	line(b, "client_recent_max_input_buffer:%d", longestInput)
	line(b, "client_recent_max_output_buffer:%d", longestOutput)
	line(b, "blocked_clients:0")
	line(b, "tracking_clients:0")
	line(b, "pubsub_clients:%d", listening)
	line(b, "clients_in_timeout_table:0")
}

func (s *Server) infoMemory(b *strings.Builder) {
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/total:bytes"}, {Name: "/sched/goroutines:goroutines"}}
	metrics.Read(samples)
	line(b, "used_memory:%d", samples[0].Value.Uint64())
	line(b, "used_memory_rss:%d", samples[1].Value.Uint64())
	line(b, "maxmemory:0")
	line(b, "maxmemory_policy:noeviction")
	line(b, "mem_clients_normal:%d", s.memory.used.Load())
	line(b, "maxmemory_clients:%d", s.memory.most)
	line(b, "mem_allocator:go")
	line(b, "goroutines:%d", samples[2].Value.Uint64())
}

// infoPersistence: drivers wait while "loading" is not 0.
func (s *Server) infoPersistence(b *strings.Builder) {
	line(b, "loading:0")
	line(b, "async_loading:0")
}

func (s *Server) infoStats(b *strings.Builder) {
	st := s.stats
	ops, input, output := st.rates()
	line(b, "total_connections_received:%d", st.connections.Load())
	line(b, "total_commands_processed:%d", st.processed())
	line(b, "instantaneous_ops_per_sec:%.0f", ops)
	line(b, "total_net_input_bytes:%d", st.input.Load())
	line(b, "total_net_output_bytes:%d", st.output.Load())
	line(b, "instantaneous_input_kbps:%.2f", input/1024)
	line(b, "instantaneous_output_kbps:%.2f", output/1024)
	line(b, "rejected_connections:%d", st.rejectedConnections.Load())
	line(b, "expired_keys:0")
	line(b, "evicted_keys:0")
	line(b, "keyspace_hits:0")
	line(b, "keyspace_misses:0")
	channels, patterns := s.subscribers.totals()
	line(b, "pubsub_channels:%d", channels)
	line(b, "pubsub_patterns:%d", patterns)
	line(b, "total_error_replies:%d", st.errorReplies.Load())
	line(b, "acl_access_denied_auth:%d", st.authFailures.Load())
	line(b, "acl_access_denied_cmd:0")
	line(b, "acl_access_denied_key:0")
	line(b, "acl_access_denied_channel:0")
	line(b, "client_query_buffer_limit_disconnections:%d", st.queryLimit.Load())
	line(b, "client_output_buffer_limit_disconnections:%d", st.outputLimit.Load())
	line(b, "evicted_clients:%d", st.evicted.Load())
	line(b, "log_lines_lost:%d", s.logLost())
}

func (s *Server) logLost() uint64 {
	if s.cfg.LogLost == nil {
		return 0
	}
	return s.cfg.LogLost()
}

func (s *Server) infoReplication(b *strings.Builder) {
	line(b, "role:master")
	line(b, "connected_slaves:0")
	line(b, "master_failover_state:no-failover")
	line(b, "master_replid:%s", s.runID)
	line(b, "master_repl_offset:0")
}

func (s *Server) infoCPU(b *strings.Builder) {
	user, system := cpuTimes()
	line(b, "used_cpu_sys:%.6f", system.Seconds())
	line(b, "used_cpu_user:%.6f", user.Seconds())
	line(b, "used_cpu_sys_children:0.000000")
	line(b, "used_cpu_user_children:0.000000")
}

func (s *Server) infoCluster(b *strings.Builder) { line(b, "cluster_enabled:0") }

func (s *Server) infoCommandStats(b *strings.Builder) {
	for _, c := range s.stats.inOrder() {
		row := &s.stats.commands[c.Index]
		calls, rejected, failed := row.calls.Load(), row.rejected.Load(), row.failed.Load()
		if calls+rejected+failed == 0 {
			continue
		}
		usec := row.nanos.Load() / 1000
		line(b, "cmdstat_%s:calls=%d,usec=%d,usec_per_call=%.2f,rejected_calls=%d,failed_calls=%d",
			c.Name, calls, usec, float64(usec)/float64(max(calls, 1)), rejected, failed)
	}
}

func (s *Server) infoErrorStats(b *strings.Builder) {
	kinds := s.stats.errorKinds()
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		line(b, "errorstat_%s:count=%d", kind, kinds[kind])
	}
}
