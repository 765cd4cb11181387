package main

import (
	"fmt"
	"os"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == asAttacker {
		os.Exit(attackerMain(os.Args[2:]))
	}
	o, err := parse(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "attack:", err)
		os.Exit(2)
	}
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "attack:", err)
		os.Exit(1)
	}
}

func run(o options) error {
	if o.list {
		for _, a := range o.chosen() {
			fmt.Println(a.name)
		}
		return nil
	}
	b, err := newBesieged(o)
	if err != nil {
		return err
	}
	defer b.close()
	r, err := b.measure()
	if o.markdown != "" {
		if writeErr := os.WriteFile(o.markdown, []byte(r.markdown()), 0o644); writeErr != nil {
			return writeErr
		}
	}
	fmt.Print(r.markdown())
	return err
}
