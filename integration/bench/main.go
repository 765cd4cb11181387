package main

import (
	"fmt"
	"os"
)

func main() {
	o, err := parse(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(o options) error {
	if o.list {
		for _, t := range o.chosen() {
			fmt.Println(t.name)
		}
		return nil
	}
	b, err := newBench(o)
	if err != nil {
		return err
	}
	defer b.close()
	if o.profile != "" {
		return b.profiles(o.profile)
	}
	r, err := b.measure()
	if o.markdown != "" {
		if writeErr := os.WriteFile(o.markdown, []byte(r.markdown()), 0o644); writeErr != nil {
			return writeErr
		}
	}
	fmt.Print(r.markdown())
	return err
}
