// Package promql holds what is shipped for Prometheus and Grafana with a proxy that runs: each
// expression in conf/alerts.yaml and conf/grafana.json is one, and asks for metrics, labels and
// states that a proxy serves; and each alert fires where it should, and not where it should not.
// It is a module of its own, as Prometheus's parser and engine need much that a proxy does not.
package promql
