package trace

import (
	"context"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"redlock-proxy/quorum"
)

// ended gathers the spans that have ended. The sender alone uses it.
type ended struct{ spans []sdk.ReadOnlySpan }

// OnStart, OnEnd, Shutdown and ForceFlush are of a sdk.SpanProcessor.
func (e *ended) OnStart(context.Context, sdk.ReadWriteSpan) {}
func (e *ended) OnEnd(s sdk.ReadOnlySpan)                   { e.spans = append(e.spans, s) }
func (e *ended) Shutdown(context.Context) error             { return nil }
func (e *ended) ForceFlush(context.Context) error           { return nil }

func (e *ended) take() (spans []sdk.ReadOnlySpan) {
	spans, e.spans = e.spans, nil
	return spans
}

// wall is a time by the clock on the wall as it stood at the answer: it may have been set in
// between, and the spans of one request are to fit each other.
func (k *kept) wall(at time.Time) time.Time { return k.Answered.Add(at.Sub(k.Answered)) }

// tell makes the spans of one request.
func (t *Tracer) tell(k *kept, now time.Time) {
	tale := k.Trace.Tale()
	name := strings.ToUpper(strings.ReplaceAll(k.Command, "|", " "))
	attributes := []attribute.KeyValue{
		attribute.String("db.system.name", "redis"),
		attribute.String("db.operation.name", name),
		attribute.String("db.namespace", strconv.Itoa(k.DB)),
		attribute.String("redlock.key", k.Key),
		attribute.String("redlock.kind", k.Kind.String()),
		attribute.String("redlock.decision", k.Decision.String()),
		attribute.Int("redlock.attempts", len(tale.Attempts)+tale.Left),
		attribute.Bool("redlock.shared", tale.Shared),
		attribute.Int64("redlock.client.id", k.ClientID),
		attribute.String("redlock.client.addr", k.Addr),
	}
	for name, value := range map[string]string{"redlock.client.name": k.ClientName, "redlock.client.user": k.User, "redlock.why": k.Why} {
		if value != "" {
			attributes = append(attributes, attribute.String(name, value))
		}
	}
	ctx, span := t.spans.Start(context.Background(), name, trace.WithSpanKind(trace.SpanKindServer), trace.WithNewRoot(),
		trace.WithTimestamp(k.wall(k.Asked)), trace.WithAttributes(attributes...))
	for i := range tale.Attempts {
		t.tellAttempt(ctx, k, i, &tale.Attempts[i], now)
	}
	fails(span, k.Decision)
	span.End(trace.WithTimestamp(k.Answered))
}

// fails marks a span whose decision is an error to who asked.
func fails(span trace.Span, d quorum.Decision) {
	if d == quorum.Unavailable {
		span.SetStatus(codes.Error, "NOQUORUM")
	}
}

func (t *Tracer) tellAttempt(ctx context.Context, k *kept, i int, a *quorum.AttemptTale, now time.Time) {
	end := now
	if !a.Decided.IsZero() {
		end = a.Decided
	}
	ctx, span := t.spans.Start(ctx, "attempt", trace.WithTimestamp(k.wall(a.Put)), trace.WithAttributes(
		attribute.Int("redlock.attempt", i+1),
		attribute.String("redlock.kind", a.Kind.String()),
		attribute.String("redlock.decision", a.Decision.String()),
	))
	for i := range a.Masters {
		t.tellMaster(ctx, k, i, a, now)
	}
	fails(span, a.Decision)
	span.End(trace.WithTimestamp(k.wall(end)))
}

// tellMaster tells of what a master has said. One that has not yet is pending until now.
func (t *Tracer) tellMaster(ctx context.Context, k *kept, i int, a *quorum.AttemptTale, now time.Time) {
	m, end := a.Masters[i], now
	if m.Vote != 0 {
		end = m.At
	}
	_, span := t.spans.Start(ctx, t.cfg.Masters[i], trace.WithSpanKind(trace.SpanKindClient), trace.WithTimestamp(k.wall(a.Put)),
		trace.WithAttributes(
			attribute.String("redlock.master", t.cfg.Masters[i]),
			attribute.String("redlock.vote", m.Vote.String()),
			attribute.Bool("redlock.asked", m.Asked || m.Vote == 0),
			attribute.Bool("redlock.counted", m.Counted),
		))
	if m.Vote == quorum.Unknown && m.Asked {
		span.SetStatus(codes.Error, "an error, or no answer in time")
	}
	span.End(trace.WithTimestamp(k.wall(end)))
}
