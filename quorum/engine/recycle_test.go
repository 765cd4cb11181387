package engine

import (
	"os"
	"sync/atomic"
	"testing"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
)

// TestMain has every test find out whoever uses an op that was given back. Every
// second one is spoiled and never used again: an answer, a vote or a hold on it
// panics. The others are used again, which shows what one leaves behind for the next.
func TestMain(m *testing.M) {
	var n atomic.Uint64
	reuse := giveBack
	giveBack = func(o *op) {
		if n.Add(1)%2 == 0 {
			reuse(o)
			return
		}
		spoil(o)
	}
	os.Exit(m.Run())
}

func spoil(o *op) {
	*o = op{Question: decide.Question{Request: quorum.Request{Kind: quorum.Survey, DB: -1, Key: "given back", Token: "given back"}}}
	o.refs.Store(-1 << 20)
}

func TestAnOpIsGivenBackByTheLastOfThoseWhoHoldIt(t *testing.T) {
	o := newOp(&quorum.Request{Kind: quorum.Acquire, Key: "k"}, newWaiter())
	o.retain()
	o.drop()
	if o.Key != "k" {
		t.Fatal("given back while it is held")
	}
	kept := newOp(&quorum.Request{Kind: quorum.Acquire, Key: "k"}, newWaiter())
	kept.retainForever()
	kept.drop()
	if kept.Key != "k" {
		t.Fatal("given back although it is kept")
	}
	step := newOp(&quorum.Request{Kind: quorum.Run, Key: "k"}, newWaiter())
	step.turn = &turn{op: step}
	step.drop()
	if step.Key != "k" {
		t.Fatal("a step is given back")
	}
}

func TestUseOfAnOpThatWasGivenBackIsFoundOut(t *testing.T) {
	for name, use := range map[string]func(o *op){
		"retain": (*op).retain,
		"drop":   (*op).drop,
		"vote":   func(o *op) { o.vote(0, quorum.Granted, true, o.put) },
		"send":   func(o *op) { o.argv(nil, true) },
	} {
		o := newOp(&quorum.Request{Kind: quorum.Acquire, Key: "k"}, newWaiter())
		spoil(o)
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: nobody noticed", name)
				}
			}()
			use(o)
		}()
	}
}
