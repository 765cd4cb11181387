package main

import (
	"context"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"redlock-proxy/conf"
	"redlock-proxy/quorum/engine"
	"redlock-proxy/quorum/master"
	"redlock-proxy/quorum/members"
)

type echoes struct{}

func (echoes) Asked(question string) string { return "to " + question }

func TestEmbeddedMastersCarryQuestions(t *testing.T) {
	list, err := startEmbedded(3)
	if err != nil {
		t.Fatal(err)
	}
	defer closeEmbedded(list)
	cfg, err := conf.Load(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var masters []master.Master
	for _, e := range list {
		masters = append(masters, e.master())
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	config := engineConfig(cfg, masters)
	if err := members.Bootstrap(ctx, config.Equipped(), members.Bootstrapping{NoLocksHeld: true}); err != nil {
		t.Fatal(err)
	}
	var engines [2]*engine.Engine
	for i := range engines {
		engines[i] = engine.New(config, hclog.NewNullLogger())
		defer engines[i].Close(ctx)
		engines[i].Consult(echoes{})
	}
	for _, e := range engines {
		for e.Status().Subscriptions < len(masters) && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
	}
	for i, e := range engines {
		if answers := e.Inquire(ctx, "x", 1); len(answers) != 1 || answers[0].Text != "to x" {
			t.Errorf("proxy %d was answered: %+v", i+1, answers)
		}
	}
}
