package trace

import (
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
)

func TestHeadersThatAreNoneAreAnError(t *testing.T) {
	for _, list := range []string{"secret", "=secret", "a=b,secret", "a=%zz-secret"} {
		t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", list)
		_, err := New(Config{Endpoint: "http://h:1"}, hclog.NewNullLogger())
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", list, err)
		}
	}
}
