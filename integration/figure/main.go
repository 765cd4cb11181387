package main

import (
	"fmt"
	"os"
)

func main() {
	if _, err := fmt.Print(draw()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
