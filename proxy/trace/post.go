package trace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// poster is an otlptrace.Client: it posts spans to a collector. The SDK's own for HTTP has all of
// gRPC with it, which is as large as the rest of the program.
type poster struct {
	url     string
	headers http.Header
	http    http.Client
}

// headersVariables are where the environment tells headers for the collector; the first that is
// set holds.
var headersVariables = []string{"OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"}

func newPoster(to string) (*poster, error) {
	p := &poster{url: to, headers: http.Header{"Content-Type": {"application/x-protobuf"}}}
	for _, variable := range headersVariables {
		list := os.Getenv(variable)
		if list == "" {
			continue
		}
		for header := range strings.SplitSeq(list, ",") {
			name, value, ok := strings.Cut(header, "=")
			value, err := url.PathUnescape(strings.TrimSpace(value))
			if name = strings.TrimSpace(name); !ok || name == "" || err != nil {
				return nil, errors.New(variable + " is no list of name=value, with commas between them")
			}
			p.headers.Set(name, value)
		}
		break
	}
	return p, nil
}

// Start and Stop are of an otlptrace.Client.
func (p *poster) Start(context.Context) error { return nil }

func (p *poster) Stop(context.Context) error {
	p.http.CloseIdleConnections()
	return nil
}

// mostSaid is how much of a collector's answer is read.
const mostSaid = 4096

// UploadTraces posts spans once. The message TracesData is on the wire what a collector is asked with.
func (p *poster) UploadTraces(ctx context.Context, spans []*otlp.ResourceSpans) error {
	b, err := proto.Marshal(&otlp.TracesData{ResourceSpans: spans})
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, bytes.NewReader(b))
	if err != nil {
		return err
	}
	r.Header = p.headers.Clone()
	answer, err := p.http.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(io.LimitReader(answer.Body, mostSaid))
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("the collector answers %s: %s", answer.Status, strings.TrimSpace(string(said)))
	}
	return err
}
