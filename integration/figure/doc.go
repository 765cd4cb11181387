// Figure draws quorum/blankmaster.svg, which the READMEs show: a quorum takes a lock, a
// master comes back without its memory, its vote is withheld, and it catches up.
//
//	go run ./integration/figure > quorum/blankmaster.svg
//
// What it shows is told in story.go, in the words of package quorum, and acted out on real
// servers by TestFigureShowsWhatHappens in package integration. It has a ground of its own,
// so that it reads on a light page and on a dark one.
package main
