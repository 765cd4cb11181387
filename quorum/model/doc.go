// Package model holds the protocol of quorum as a Promela model, and a test that
// has spin walk all of its executions, within bounds: with all rules, where no
// execution may break an invariant, and with each rule left out, where one must.
//
//	go test ./quorum/model -model           # what the test command runs
//	go test ./quorum/model -model -large    # larger worlds: minutes and gigabytes each
//	go test ./quorum/model -model -update   # writes the counter-examples anew
//
// Without -model the test needs no spin and only holds table, model, README and
// counter-examples together.
package model
