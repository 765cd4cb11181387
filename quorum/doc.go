// Package quorum is Redlock over N independent Redis masters: it puts a request
// to all of them at once and tells the asker what a quorum decided.
//
// It is the only door to the masters.
package quorum
