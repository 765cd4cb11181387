//go:build !linux

package main

import "errors"

func serve(string, []string) error { return errors.New("only Linux has epoll") }
