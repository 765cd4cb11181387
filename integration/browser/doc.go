// Package browser holds the page that a proxy serves (proxy/page) to a real browser: that it shows
// what happens while it happens, runs nothing that a client has put into a key, and can be
// read on a telephone, in the dark, and by who uses no mouse. It is a module of its own for the
// sake of what drives the browser, Debian's chromium without a screen:
//
//	go test -C integration/browser . -pictures DIR
//
// Most tests are of a house that says what would be so, as they need what seldom happens; what the
// program shows of real masters that are killed, frozen and flushed is in real_test.go. The pictures
// that documents show are of the program, too, and made anew by
//
//	go test -C integration/browser . -run Pictures -update
//
// Goroutines: the browser is a process that chromedp starts and TestMain ends; a house's server, a
// proxy and its masters end with their test.
package browser
