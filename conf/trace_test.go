package conf

import (
	"strings"
	"testing"
)

func TestTracesGoWhereTheirURLSays(t *testing.T) {
	for args, want := range map[string]string{
		"":                                       "",
		"--trace-endpoint http://localhost:4318": "http://localhost:4318/v1/traces",
		"--trace-endpoint http://localhost:4318/":             "http://localhost:4318/v1/traces",
		"--trace-endpoint https://otel.example.org/in/traces": "https://otel.example.org/in/traces",
		"--trace-endpoint http://[::1]:4318":                  "http://[::1]:4318/v1/traces",
	} {
		if c := load(t, nil, strings.Fields(args)...); c.Traces != want || c.TraceSample != 0.01 {
			t.Errorf("%s: %q, a share of %v", args, c.Traces, c.TraceSample)
		}
	}
}

func TestShareOfTheTracesIsANumber(t *testing.T) {
	for text, want := range map[string]float64{"0": 0, "1": 1, "0.5": 0.5, "1e-3": 0.001} {
		c := load(t, nil, "--trace-endpoint", "http://h:1", "--trace-sample", text)
		if c.TraceSample != want || !strings.Contains(c.Show(), "trace-sample            = ") {
			t.Errorf("%s: %v", text, c.TraceSample)
		}
		path := write(t, "c.toml", "trace-endpoint = \"http://h:1\"\ntrace-sample = "+text+"\n")
		if c := load(t, nil, "--config", path); c.TraceSample != want {
			t.Errorf("%s in the file: %v", text, c.TraceSample)
		}
	}
	if got := load(t, nil, "--trace-endpoint", "http://h:1", "--trace-sample", "0.25").Show(); !strings.Contains(got, " = 0.25 ") {
		t.Error(got)
	}
}

func TestMistakesWithTracesAreNamedWithTheirCure(t *testing.T) {
	for args, want := range map[string]string{
		"--trace-endpoint localhost:4318":                    `--trace-endpoint: "localhost:4318" is not a URL of http or https; write http://host:4318 or https://host`,
		"--trace-endpoint grpc://h:4317":                     `--trace-endpoint: "grpc://h:4317" is not a URL of http or https`,
		"--trace-endpoint http://h:x":                        `--trace-endpoint: "http://h:x" is not a URL of http or https`,
		"--trace-endpoint http://":                           `--trace-endpoint: "http://" names no host; write http://host:4318`,
		"--trace-endpoint http://:4318":                      `--trace-endpoint: "http://:4318" names no host`,
		"--trace-endpoint http://h:1/x?y=z":                  `--trace-endpoint: "http://h:1/x?y=z" has more than a path; leave out what follows ? or #`,
		"--trace-endpoint http://u:secret@h:1":               `--trace-endpoint: it has a user or a password; write http://host:4318, and headers for the collector into the variable OTEL_EXPORTER_OTLP_HEADERS`,
		"--trace-sample 0.5":                                 `--trace-sample: there is no collector; name one in trace-endpoint, or leave it out`,
		"--trace-endpoint http://h:1 --trace-sample 1.01":    `--trace-sample: "1.01" is not a number from 0 to 1; write a share, such as 0.01`,
		"--trace-endpoint http://h:1 --trace-sample=-1":      `--trace-sample: "-1" is not a number from 0 to 1`,
		"--trace-endpoint http://h:1 --trace-sample NaN":     `--trace-sample: "NaN" is not a number from 0 to 1`,
		"--trace-endpoint http://h:1 --trace-sample 1%":      `--trace-sample: "1%" is not a number from 0 to 1`,
		"--trace-endpoint http://h:1 --trace-sample usually": `--trace-sample: "usually" is not a number from 0 to 1`,
	} {
		if got := wrong(t, nil, strings.Fields(args)...); !strings.Contains(got, want) || strings.Contains(got, "\n") || strings.Contains(got, "secret") {
			t.Errorf("%s\n got %s\nwant %s", args, got, want)
		}
	}
	for text, want := range map[string]string{
		"trace-sample = \"0.5\"\n": `line 1: trace-sample: this is text; write the number without quotes`,
		"trace-sample = true\n":    `line 1: trace-sample: this is true or false; write a number, such as 0.01`,
		"max-clients = 0.5\n":      `line 1: max-clients: this is a number with a fraction; write a whole number`,
	} {
		if got := wrong(t, nil, "--config", write(t, "c.toml", text)); !strings.Contains(got, want) {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}
