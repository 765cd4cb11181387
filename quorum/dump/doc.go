// Package dump reads what masters DUMP of a key: whether two of them hold the same, though each
// keeps and tells it in its own way, and how to put it back on a master of another version. It
// is pure.
package dump
