package trace

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// patience is how long a test waits for what is to come.
const patience = 30 * time.Second

// fakeCollector takes traces as a collector of OpenTelemetry does.
type fakeCollector struct {
	*httptest.Server
	mu       sync.Mutex // guards what follows
	spans    []*otlp.Span
	resource []*common.KeyValue

	authorization string
}

func newCollector(t *testing.T) *fakeCollector {
	c := &fakeCollector{}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

func (c *fakeCollector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, err := io.ReadAll(r.Body)
	var request otlp.TracesData
	if err == nil {
		err = proto.Unmarshal(b, &request)
	}
	if err != nil || r.URL.Path != "/v1/traces" || r.Method != http.MethodPost {
		http.Error(w, fmt.Sprint(r.Method, r.URL.Path, err), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.authorization = r.Header.Get("Authorization")
	for _, of := range request.ResourceSpans {
		c.resource = of.Resource.Attributes
		for _, s := range of.ScopeSpans {
			c.spans = append(c.spans, s.Spans...)
		}
	}
}

// await waits for as many spans.
func (c *fakeCollector) await(t *testing.T, n int) []*otlp.Span {
	t.Helper()
	for began := time.Now(); time.Since(began) < patience; time.Sleep(5 * time.Millisecond) {
		c.mu.Lock()
		spans := c.spans
		c.mu.Unlock()
		if len(spans) >= n {
			return spans
		}
	}
	t.Fatalf("the collector was not given %d spans", n)
	return nil
}

// tree is spans as a text: each with its parent before it, in the order in which they began, and
// those that began together by their names.
func tree(spans []*otlp.Span, parent string, depth int) string {
	var b strings.Builder
	for _, s := range spans {
		if string(s.ParentSpanId) != parent {
			continue
		}
		fmt.Fprintf(&b, "%s%s %s", strings.Repeat("  ", depth), s.Name, time.Duration(s.EndTimeUnixNano-s.StartTimeUnixNano))
		for _, name := range []string{"redlock.key", "redlock.kind", "redlock.decision", "redlock.vote"} {
			if v := valueOf(s.Attributes, name); v != "" {
				fmt.Fprintf(&b, " %s", v)
			}
		}
		if s.Status.GetCode() == otlp.Status_STATUS_CODE_ERROR {
			fmt.Fprintf(&b, " !")
		}
		b.WriteString("\n" + tree(spans, string(s.SpanId), depth+1))
	}
	return b.String()
}

// valueOf is an attribute as a text.
func valueOf(list []*common.KeyValue, name string) string {
	for _, a := range list {
		if a.Key != name {
			continue
		}
		switch v := a.Value.Value.(type) {
		case *common.AnyValue_StringValue:
			return v.StringValue
		case *common.AnyValue_IntValue:
			return fmt.Sprint(v.IntValue)
		case *common.AnyValue_BoolValue:
			return fmt.Sprint(v.BoolValue)
		}
	}
	return ""
}
