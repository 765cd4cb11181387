package admin

import (
	"io"
	"regexp"
	"strings"
	"testing"

	"redlock-proxy/quorum"
)

// inMetrics is where each figure of INFO is among the metrics, or after "-" why it is none.
var inMetrics = map[string]string{
	"redis_version": "- what clients are told", "redis_mode": "- is always so", "redlock_proxy_version": "redlock_build_info", "os": "- is the machine's",
	"arch_bits": "- is the machine's", "go_version": "redlock_build_info", "process_id": "- is no figure", "run_id": "- is no figure", "tcp_port": "- is configured",
	"server_time_usec": "- is the scrape's", "uptime_in_seconds": "process_start_time_seconds", "uptime_in_days": "process_start_time_seconds",
	"executable": "- is no figure", "config_file": "- is configured",

	"connected_clients": "redlock_clients", "cluster_connections": "- is always so", "maxclients": "redlock_clients_max",
	"client_recent_max_input_buffer": "redlock_client_longest_input_bytes", "client_recent_max_output_buffer": "redlock_client_longest_output_bytes",
	"blocked_clients": "redlock_clients_waiting", "tracking_clients": "redlock_clients_tracking", "tracking_total_keys": "redlock_tracked_keys", "tracking_total_items": "redlock_tracked_items", "tracking_total_prefixes": "redlock_tracked_prefixes", "pubsub_clients": "redlock_clients_subscribed", "clients_in_timeout_table": "- is always so",

	"used_memory": "go_memstats_heap_alloc_bytes", "used_memory_rss": "go_memstats_sys_bytes", "maxmemory": "- is always so", "maxmemory_policy": "- is always so",
	"mem_clients_normal": "redlock_client_memory_bytes", "maxmemory_clients": "redlock_client_memory_max_bytes", "mem_allocator": "- is always so", "goroutines": "go_goroutines",
	"used_memory_scripts": "redlock_scripts_cached_bytes", "used_memory_scripts_eval": "redlock_scripts_cached_bytes", "number_of_cached_scripts": "redlock_scripts_cached",
	"number_of_functions": "- is always so", "number_of_libraries": "- is always so", "pubsubshard_channels": "redlock_pubsub_shard_channels",
	"loading": "- is always so", "async_loading": "- is always so",

	"total_connections_received": "redlock_connections_total", "total_commands_processed": "redlock_commands_total", "instantaneous_ops_per_sec": "redlock_commands_total",
	"total_net_input_bytes": "redlock_network_input_bytes_total", "total_net_output_bytes": "redlock_network_output_bytes_total",
	"instantaneous_input_kbps": "redlock_network_input_bytes_total", "instantaneous_output_kbps": "redlock_network_output_bytes_total",
	"rejected_connections": "redlock_connections_rejected_total", "expired_keys": "- is always so", "evicted_keys": "- is always so", "keyspace_hits": "- is always so",
	"keyspace_misses": "- is always so", "pubsub_channels": "redlock_pubsub_channels", "pubsub_patterns": "redlock_pubsub_patterns",
	"total_error_replies": "redlock_error_replies_total", "acl_access_denied_auth": "redlock_wrong_passwords_total", "acl_access_denied_cmd": "redlock_denied_total",
	"acl_access_denied_key": "redlock_denied_total", "acl_access_denied_channel": "redlock_denied_total", "acl_access_denied_limit": "redlock_denied_total",
	"commands_delayed":                         "redlock_commands_delayed_total",
	"client_query_buffer_limit_disconnections": "redlock_clients_cut_off_total", "client_output_buffer_limit_disconnections": "redlock_clients_cut_off_total",
	"evicted_clients": "redlock_clients_cut_off_total", "log_lines_lost": "redlock_log_lines_lost_total", "audit_lines_lost": "redlock_audit_lines_lost_total",

	"role": "- is always so", "connected_slaves": "- is always so", "master_failover_state": "- is always so", "master_replid": "- is no figure", "master_repl_offset": "- is always so",
	"used_cpu_sys": "process_cpu_seconds_total", "used_cpu_user": "process_cpu_seconds_total", "used_cpu_sys_children": "- is always so", "used_cpu_user_children": "- is always so",
	"cluster_enabled": "- is always so", "cmdstat_*": "redlock_commands_total", "errorstat_*": "redlock_errors_total",
	"latency_percentiles_usec_*": "redlock_decision_duration_seconds_bucket",
	"cmdstat_*.calls":            "redlock_commands_total", "cmdstat_*.usec": "redlock_commands_seconds_total", "cmdstat_*.usec_per_call": "redlock_commands_seconds_total",
	"cmdstat_*.rejected_calls": "redlock_commands_rejected_total", "cmdstat_*.failed_calls": "redlock_commands_failed_total",

	"ready": "redlock_ready", "draining": "redlock_draining", "quorum": "redlock_quorum_size", "masters": "redlock_masters", "master*": "redlock_master_state",
	"decisions_*": "redlock_decisions_total", "splits": "redlock_splits_total", "collapsed": "redlock_shared_total", "undos": "redlock_undos_total",
	"undos_missed": "redlock_undos_missed_total", "heals": "redlock_heals_total", "votes_withheld": "redlock_master_votes_total",
	"quarantines": "redlock_quarantines_total", "quarantined": "redlock_quarantined", "catch_ups": "redlock_catch_ups_total", "catch_up_keys": "redlock_catch_up_keys_total",
	"debts": "redlock_master_debts", "debt_bytes": "redlock_master_debts_bytes", "debts_owed": "redlock_debts_owed_total", "debts_paid": "redlock_debts_ended_total",
	"debts_needless": "redlock_debts_ended_total", "debts_dropped": "redlock_debts_ended_total", "debts_left": "redlock_debts_left",
	"over_max_ttl": "redlock_over_max_ttl_total", "undelivered_oks": "redlock_undelivered_oks_total", "max_hold_ends": "redlock_max_hold_ends_total",
	"toiling_scripts": "redlock_toiling_scripts_total", "in_flight": "redlock_in_flight", "subscriptions": "redlock_subscriptions",
	"messages_published": "redlock_messages_published_total", "messages_short": "redlock_messages_short_total", "messages_received": "redlock_messages_received_total",

	"master*.name": "redlock_master_state", "master*.state": "redlock_master_state", "master*.since_seconds": "redlock_master_state_since_timestamp_seconds",
	"master*.run_id": "redlock_master_info", "master*.version": "redlock_master_info", "master*.rtt_usec": "redlock_master_round_trip_seconds",
	"master*.granted": "redlock_master_votes_total", "master*.refused": "redlock_master_votes_total", "master*.unknown": "redlock_master_votes_total",
	"master*.withheld": "redlock_master_votes_total", "master*.unasked": "redlock_master_votes_total", "master*.queue": "redlock_master_queue",
	"master*.in_batch": "redlock_master_in_batch", "master*.debts": "redlock_master_debts", "master*.debt_bytes": "redlock_master_debts_bytes",
	"master*.reconnects": "redlock_master_reconnects_total", "master*.quarantine_left_seconds": "redlock_master_quarantine_left_seconds",
	"master*.catch_up_copied": "redlock_master_catch_up_copied_keys", "master*.catch_up_sources": "redlock_master_catch_up_sources",
	"master*.catch_up_needed": "redlock_master_catch_up_sources_needed", "master*.clock_offset_usec": "redlock_master_clock_offset_seconds",
	"master*.elsewhere": "redlock_master_elsewhere", "master*.reason": "- is a text, which LOCK MASTERS tells",
}

// figuresOf are the names of all figures of INFO, with * for what differs.
func figuresOf(info string) (names []string) {
	counted := regexp.MustCompile(`^(cmdstat|errorstat|decisions|latency_percentiles_usec)_.*`)
	ofMaster := regexp.MustCompile(`^master\d+$`)
	for _, line := range strings.Split(info, "\r\n") {
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		name = counted.ReplaceAllString(name, "${1}_*")
		name = ofMaster.ReplaceAllString(name, "master*")
		names = append(names, name)
		if name == "master*" || name == "cmdstat_*" {
			for _, part := range strings.Split(value, ",") {
				part, _, _ = strings.Cut(part, "=")
				names = append(names, name+"."+part)
			}
		}
	}
	return names
}

// Whoever scrapes the metrics misses nothing that INFO tells.
func TestEachFigureOfInfoIsAmongTheMetrics(t *testing.T) {
	e := &fakeEngine{status: full().status}
	p, nc := startProxy(t, e)
	io.WriteString(nc, "PING\r\nNOSUCH\r\n")
	answers := "+PONG\r\n-ERR unknown command 'NOSUCH', with args beginning with: \r\n"
	if _, err := io.ReadFull(nc, make([]byte, len(answers))); err != nil {
		t.Fatal(err)
	}
	info := infoOf(t, nc)
	text := scraped(t, &fakeSource{figures: p.Figures(), status: e.status})
	seen := make(map[string]bool)
	for _, name := range figuresOf(info) {
		seen[name] = true
		metric, ok := inMetrics[name]
		if !ok {
			t.Errorf("INFO tells %s, and nobody has said which metric does", name)
		} else if !strings.HasPrefix(metric, "- ") && !strings.Contains(text, "\n"+metric+"{") && !strings.Contains(text, "\n"+metric+" ") {
			t.Errorf("INFO tells %s, and there is no %s", name, metric)
		}
	}
	if !seen["master*.reason"] || !seen["cmdstat_*.usec"] || len(seen) < 100 {
		t.Errorf("only %d figures are looked at", len(seen))
	}
	for name := range inMetrics {
		if !seen[name] {
			t.Errorf("INFO does not tell %s", name)
		}
	}
}

// What is not known to the fake source is told by a proxy as well as by INFO.
func TestProxyIsASource(t *testing.T) {
	p, _ := startProxy(t, &fakeEngine{status: quorum.Status{Quorum: 2}})
	var source Source = p
	if !source.Ready() || source.Draining() || source.Status().Quorum != 2 || source.Figures().MastersMemory != 5 {
		t.Errorf("ready %v, draining %v, %+v", source.Ready(), source.Draining(), source.Figures())
	}
}
