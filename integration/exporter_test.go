package integration

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// startExporter starts what people have for Redis, before a proxy.
func startExporter(t *testing.T, p *Proxy, args ...string) *watch {
	t.Helper()
	path, err := exec.LookPath("prometheus-redis-exporter")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("the package prometheus-redis-exporter is not installed")
		}
		t.Skip("the package prometheus-redis-exporter is not installed; integration/test installs it")
	}
	port, err := FreePort()
	must(t, err)
	address := local(port)
	exporter, err := startChild(path, nil, append([]string{"-redis.addr", "redis://" + p.Addr, "-web.listen-address", address}, args...)...)
	must(t, err)
	t.Cleanup(func() {
		must(t, exporter.Kill())
		if t.Failed() {
			t.Logf("the exporter's log:\n%s", exporter.Log())
		}
	})
	w := &watch{t, "http://" + address, http.Client{Timeout: patience}}
	must(t, await(patience, exporter, func() error {
		resp, err := w.client.Get(w.url + "/health")
		if err != nil {
			return err
		}
		return resp.Body.Close()
	}))
	return w
}

// Who has dashboards for Redis sees the proxy in them.
func TestExporterForRedisTellsTheTruthOfAProxy(t *testing.T) {
	t.Parallel()
	_, p := startQuorum(t, 3, "--max-clients", "77")
	w := startExporter(t, p, "-count-keys", "db0=held*", "-export-client-list", "-include-config-metrics")
	c := dial(t, p.Addr)
	c.want("OK", acquireArgs("held", "token", ttl)...)
	c.want("OK", acquireArgs("held too", "token", ttl)...)
	c.want(nil, acquireArgs("held", "other", ttl)...)
	c.do("NOSUCH")
	w.awaits(map[string]float64{"redis_connected_clients": 2, `redis_db_keys{db="db0"}`: 2}) // clients: this one and the exporter's
	first := w.metrics()
	for name, want := range map[string]float64{
		"redis_up": 1, "redis_connected_clients": 2, "redis_config_maxclients": 77, "redis_blocked_clients": 0, "redis_loading_dump_file": 0,
		`redis_commands_total{cmd="set"}`: 3, `redis_commands_failed_calls_total{cmd="set"}`: 0, `redis_errors_total{err="ERR"}`: 1, "redis_total_error_replies": 1,
		"redis_rejected_connections_total": 0, `redis_keys_count{db="db0",key="held*"}`: 2,
		"redis_exporter_last_scrape_error{err=\"\"}": 0, "redis_connected_slaves": 0,
		`redis_db_keys{db="db0"}`: 2, "redis_cluster_enabled": 0,
	} {
		if got, ok := first[name]; !ok || got != want {
			t.Errorf("%s is %v (there: %v), want %v", name, got, ok, want)
		}
	}
	instance := ""
	for name := range first {
		if strings.HasPrefix(name, "redis_instance_info{") {
			instance = name
		}
	}
	for _, want := range []string{`redis_version="7.2.0"`, `role="master"`, `redis_mode="standalone"`, fmt.Sprintf(`tcp_port=%q`, p.Addr[strings.LastIndex(p.Addr, ":")+1:])} {
		if !strings.Contains(instance, want) {
			t.Errorf("%s says nothing of %s", instance, want)
		}
	}

	c.want("OK", acquireArgs("held three", "token", ttl)...)
	second := w.metrics()
	if n := second[`redis_commands_total{cmd="set"}`]; n != 4 {
		t.Errorf("%v SETs after another one, want 4", n)
	}
	for _, grows := range []string{"redis_net_input_bytes_total", "redis_net_output_bytes_total", "redis_commands_processed_total", "redis_connections_received_total"} {
		if second[grows] <= first[grows] {
			t.Errorf("%s was %v and is %v", grows, first[grows], second[grows])
		}
	}
}
