package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

func growthTrials() []trial {
	return []trial{
		{"growth/masters", growWithMasters},
		{"growth/connections", growWithConnections},
		{"growth/keys", growWithKeys},
		{"growth/values", growWithValues},
	}
}

// grow measures one size: f straight at one Redis and through the proxy.
func (b *bench) grow(h *house, size string, f *flood, prepare func() error) (growthRow, error) {
	row := growthRow{size: size, direct: h.asked(f.at(h.direct.Addr)), proxy: h.through(f.at(h.proxy.Addr))}
	row.direct.prepare, row.proxy.prepare = prepare, prepare
	return row, b.turns(row.direct, row.proxy)
}

// grown runs several sizes and keeps their table.
func (b *bench) grown(r *report, grows string, sizes []int, one func(size int) (growthRow, error)) error {
	t := table{grows: grows}
	defer func() { r.growth = append(r.growth, t) }()
	for _, size := range sizes {
		row, err := one(size)
		if err != nil {
			return fmt.Errorf("%s, %d: %w", grows, size, err)
		}
		t.rows = append(t.rows, row)
		r.remarkRepeated(fmt.Sprintf("%s, %d", grows, size), row.direct, row.proxy)
	}
	return nil
}

// growWithMasters has a house for each number of them.
func growWithMasters(b *bench, r *report) error {
	for _, s := range []shape{{50, 1}, {50, 16}} {
		err := b.grown(r, fmt.Sprintf("masters (%v)", s), []int{1, 3, 5, 7}, func(n int) (row growthRow, err error) {
			h, err := b.house(plan{masters: n})
			if err != nil {
				return row, err
			}
			defer func() { err = errors.Join(err, h.close()) }()
			return b.grow(h, strconv.Itoa(n), &flood{shape: s, command: acquire}, h.blank)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// growWithConnections: all of them ask. The most is what the trial of idle
// connections holds. Ten thousand requests at once are more than the cores do
// in the usual acquire-timeout, so that is longer here.
func growWithConnections(b *bench, r *report) (err error) {
	h, err := b.house(plan{masters: b.masters, args: []string{"--acquire-timeout", "5s"}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	return b.grown(r, "connections", upTo(b.idle, 50, 200, 1000, 5000, 10_000), func(n int) (growthRow, error) {
		return b.grow(h, strconv.Itoa(n), &flood{shape: shape{n, 1}, command: acquire}, h.blank)
	})
}

// growWithKeys: so many other locks are held at the masters meanwhile, and
// expire long after.
func growWithKeys(b *bench, r *report) (err error) {
	h, err := b.house(plan{masters: b.masters})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	sizes := upTo(b.keys, 1, 1000, 100_000, 1_000_000, 10_000_000)
	return b.grown(r, "locks held (c50 P1)", sizes, func(n int) (growthRow, error) {
		if err := h.blank(); err != nil {
			return growthRow{}, err
		}
		for _, s := range append(slices.Clone(h.masters), h.direct) {
			if err := fill(s, "held:", n); err != nil {
				return growthRow{}, err
			}
		}
		round := 0
		f := &flood{shape: shape{50, 1}}
		// Each turn takes locks of other names, as nothing is flushed between.
		return b.grow(h, strconv.Itoa(n), f, func() error {
			round++
			f.command = []string{"SET", fmt.Sprintf("turn%d:__rand_int__", round), "v", "NX", "PX", "30000"}
			return nil
		})
	})
}

// mostBytes bounds what the values of one turn take at each Redis.
const mostBytes = 128 << 20

func growWithValues(b *bench, r *report) (err error) {
	h, err := b.house(plan{masters: b.masters})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	return b.grown(r, "bytes of the token (c50 P1)", []int{8, 64, 512, 4096, 16 << 10, 64 << 10}, func(n int) (growthRow, error) {
		command := []string{"SET", "lock:__rand_int__", strings.Repeat("v", n), "NX", "PX", "30000"}
		f := &flood{shape: shape{50, 1}, command: command, most: mostBytes / n}
		return b.grow(h, strconv.Itoa(n), f, h.blank)
	})
}

// upTo is the sizes that are not more than most.
func upTo(most int, sizes ...int) (list []int) {
	for _, n := range sizes {
		if n <= most {
			list = append(list, n)
		}
	}
	return list
}
