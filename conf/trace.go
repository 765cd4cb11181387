package conf

import (
	"fmt"
	"net/url"
	"strings"
)

// tracesPath is where a collector takes traces, unless its URL says otherwise.
const tracesPath = "/v1/traces"

// checkTraces looks at where traces are sent. What a collector wants to be told beside them, as a
// password, is not for an address that is shown.
func (c *Config) checkTraces(problems *Problems) {
	const name = "trace-endpoint"
	if c.TraceEndpoint == "" {
		if c.given("trace-sample") {
			problems.add(c.where("trace-sample"), "there is no collector", "name one in trace-endpoint, or leave it out")
		}
		return
	}
	if strings.Contains(c.TraceEndpoint, "@") {
		problems.add(c.where(name), "it has a user or a password", "write http://host:4318, and headers for the collector into the variable OTEL_EXPORTER_OTLP_HEADERS")
		return
	}
	u, err := url.Parse(c.TraceEndpoint)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Opaque != "":
		problems.add(c.where(name), fmt.Sprintf("%q is not a URL of http or https", c.TraceEndpoint), "write http://host:4318 or https://host")
	case u.Hostname() == "":
		problems.add(c.where(name), fmt.Sprintf("%q names no host", c.TraceEndpoint), "write http://host:4318")
	case u.RawQuery != "", u.Fragment != "", u.ForceQuery:
		problems.add(c.where(name), fmt.Sprintf("%q has more than a path", c.TraceEndpoint), "leave out what follows ? or #")
	default:
		if u.Path == "" || u.Path == "/" {
			u.Path = tracesPath
		}
		c.Traces = u.String()
	}
}
