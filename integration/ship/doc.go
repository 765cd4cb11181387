// Package ship holds what is shipped beside the program with those who read it: the Dockerfile with
// buildah, conf/compose.yaml with the loader of compose, conf/kubernetes.yaml with the types of
// Kubernetes, and the packages of .goreleaser.yaml, which are made, with dpkg. What is said to the
// program there is said to it.
//
// It is a module of its own, as what it asks is large and nobody else needs it. It starts no
// goroutine.
package ship
