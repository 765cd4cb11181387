// Package conf says what redlock-proxy can be told, and where from: flags,
// environment variables (REDLOCK_PROXY_…) and one TOML file, in that order of
// precedence, over the defaults.
//
// Everything about an option stands once, in the tags of its field in
// [Options]. The flags, the variables, the keys of the file, the help, what
// the subcommand check prints, the example file and the README's tables are all
// made from there, the last two by "go test ./conf -run Made -update".
//
// [Load] reads all sources and finds all mistakes before it reports any; each
// comes with its cure. Nothing that this package prints or returns as an error
// holds a password.
//
// The package knows nothing of masters or clients beyond their addresses; what
// a value means is its reader's business. It starts no goroutine.
package conf
