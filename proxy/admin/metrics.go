package admin

import (
	"net/http"
	"runtime"

	"github.com/hashicorp/go-hclog"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"redlock-proxy/proxy"
	"redlock-proxy/quorum"
)

// mostScrapes is how many may be answered at once: each looks at all clients.
const mostScrapes = 4

// mountMetrics mounts what Prometheus scrapes: the proxy's figures, Go's and the process's.
func mountMetrics(mux *http.ServeMux, source Source, log hclog.Logger) {
	registry := newRegistry(source)
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorLog:            plainLog(log, hclog.Error),
		ErrorHandling:       promhttp.ContinueOnError,
		MaxRequestsInFlight: mostScrapes,
	}))
}

func newRegistry(source Source) *prometheus.Registry {
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		newCollector(source),
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return registry
}

// picture is what one scrape tells of.
type picture struct {
	proxy.Figures
	quorum.Status
}

// family is the metrics of one name, and how they are read from a picture.
type family struct {
	desc *prometheus.Desc
	tell func(p *picture, as *prometheus.Desc, to chan<- prometheus.Metric)
}

// collector looks at the proxy when it is scraped: what is not scraped costs nothing.
type collector struct {
	source   Source
	families []family
}

func newCollector(source Source) *collector {
	c := &collector{source: source}
	c.families = append(c.families, processFamilies()...)
	c.families = append(c.families, clientFamilies()...)
	c.families = append(c.families, commandFamilies()...)
	c.families = append(c.families, lockFamilies()...)
	c.families = append(c.families, masterFamilies()...)
	return c
}

// Describe is prometheus.Collector's.
func (c *collector) Describe(to chan<- *prometheus.Desc) {
	for _, f := range c.families {
		to <- f.desc
	}
}

// Collect is prometheus.Collector's.
func (c *collector) Collect(to chan<- prometheus.Metric) {
	p := picture{c.source.Figures(), c.source.Status()}
	for _, f := range c.families {
		f.tell(&p, f.desc, to)
	}
}

// describe is the name of a family without redlock_, which all have, and what it tells.
func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("redlock_"+name, help, labels, nil)
}

// gauge and counter are families of one metric.

func gauge(name, help string, read func(*picture) float64) family {
	return single(name, help, prometheus.GaugeValue, read)
}

func counter(name, help string, read func(*picture) float64) family {
	return single(name, help, prometheus.CounterValue, read)
}

func single(name, help string, kind prometheus.ValueType, read func(*picture) float64) family {
	return family{describe(name, help), func(p *picture, as *prometheus.Desc, to chan<- prometheus.Metric) {
		to <- prometheus.MustNewConstMetric(as, kind, read(p))
	}}
}

func number(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// processFamilies are about the proxy as a whole.
func processFamilies() []family {
	return []family{
		{describe("build_info", "Which proxy this is. Always 1.", "version", "goversion"),
			func(p *picture, as *prometheus.Desc, to chan<- prometheus.Metric) {
				to <- prometheus.MustNewConstMetric(as, prometheus.GaugeValue, 1, label(p.Version), runtime.Version())
			}},
		gauge("ready", "Whether a quorum of masters can vote and the proxy is not shutting down.",
			func(p *picture) float64 { return number(p.Ready) }),
		gauge("draining", "Whether the proxy is shutting down.",
			func(p *picture) float64 { return number(p.Draining) }),
		counter("log_lines_lost_total", "Lines of the log that nobody has read in time.",
			func(p *picture) float64 { return float64(p.LogLinesLost) }),
		counter("audit_lines_lost_total", "Lines of the audit log that could not be written in time.",
			func(p *picture) float64 { return float64(p.AuditLinesLost) }),
	}
}
