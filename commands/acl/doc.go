// Package acl is who may do what, in the words of Redis's ACL: users, their passwords, and what each
// may call, on which keys and channels.
//
//	catalogue.go  which commands there are, and in which categories
//	rule.go       one word of ACL SETUSER, and what it makes of a user
//	selector.go   what may be called, on which keys and channels
//	user.go       a user: a value that is never changed
//	check.go      whether a user may do something
//	users.go      all of them
//
// A user is as his rules were given, one after the other, which is how Redis 7.2 has it. Two categories
// are ours: @lock is what clients that lock send, and @operate what harms those who hold locks, or
// shows what others do.
//
// Nothing here does I/O, starts a goroutine or knows a session.
package acl
