package promql

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

// ofTarget are the labels that Prometheus gives to all that it scrapes.
var ofTarget = []string{"job", "instance"}

// asked is an expression, and the labels by which its results are named.
type asked struct{ where, expr, named string }

func TestWhatIsShippedAsksForWhatAProxyServes(t *testing.T) {
	s := scrape(t)
	all := append(alerts(t), panels(t)...)
	if len(all) < 50 {
		t.Errorf("only %d expressions are looked at", len(all))
	}
	for _, a := range all {
		for _, problem := range s.check(t, a) {
			t.Errorf("%s: %s\n%s", a.where, problem, a.expr)
		}
	}
}

// The check above finds what it is there for.
func TestMistakesInExpressionsAreFound(t *testing.T) {
	s := served{"redlock_x": {"state": {"up": true}}}
	for expr, want := range map[string]string{
		`redlock_x`:                      "",
		`redlock_x{state="up",job="j"}`:  "",
		`sum by (instance) (redlock_x)`:  "",
		`redlock_y`:                      "no proxy serves redlock_y",
		`redlock_x{stat="up"}`:           "redlock_x has no label stat",
		`redlock_x{state="down"}`:        `redlock_x has no state "down"`,
		`redlock_x{state=~"up|down"}`:    `redlock_x has no state "down"`,
		`sum by (master) (redlock_x)`:    "there is no label master to sum by",
		`redlock_x and on (a) redlock_x`: "there is no label a to match on",
		`sum(rate(redlock_x[1m]`:         "unclosed",
	} {
		got := strings.Join(s.check(t, asked{expr: expr}), "; ")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", expr, got, want)
		}
	}
	if got := s.check(t, asked{expr: "sum by (instance) (redlock_x)", named: "{{state}}"}); len(got) != 1 {
		t.Errorf("a name by a label that is summed away: %q", got)
	}
}

// check is what is wrong with an expression.
func (s served) check(t *testing.T, a asked) (problems []string) {
	t.Helper()
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(a.expr)
	if err != nil {
		return []string{err.Error()}
	}
	there, left := slices.Clone(ofTarget), []string(nil)
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		if v, ok := n.(*parser.VectorSelector); ok && v.Name != "up" {
			problems = append(problems, s.selects(v)...)
			for name := range s[v.Name] {
				there = append(there, name)
			}
		}
		return nil
	})
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		switch n := n.(type) {
		case *parser.AggregateExpr:
			if left == nil && !n.Without && n.Op != parser.TOPK {
				left = append([]string{""}, n.Grouping...)
			}
			problems = append(problems, missing(n.Grouping, there, "to sum by")...)
		case *parser.BinaryExpr:
			if n.VectorMatching != nil {
				problems = append(problems, missing(n.VectorMatching.MatchingLabels, there, "to match on")...)
			}
		}
		return nil
	})
	if left == nil {
		left = there
	}
	for _, m := range regexp.MustCompile(`{{ *(?:\$labels\.)?(\w+) *}}`).FindAllStringSubmatch(a.named, -1) {
		problems = append(problems, missing(m[1:], left, "to name it by")...)
	}
	return problems
}

func missing(wanted, there []string, what string) (problems []string) {
	for _, name := range wanted {
		if !slices.Contains(there, name) {
			problems = append(problems, fmt.Sprintf("there is no label %s %s", name, what))
		}
	}
	return problems
}

// selects is what is wrong with what an expression reads.
func (s served) selects(v *parser.VectorSelector) (problems []string) {
	if s[v.Name] == nil {
		return []string{"no proxy serves " + v.Name}
	}
	for _, m := range v.LabelMatchers {
		values := s[v.Name][m.Name]
		switch {
		case m.Name == model.MetricNameLabel, slices.Contains(ofTarget, m.Name):
		case values == nil:
			problems = append(problems, fmt.Sprintf("%s has no label %s", v.Name, m.Name))
		default:
			for _, value := range strings.Split(m.Value, "|") {
				if !values[value] {
					problems = append(problems, fmt.Sprintf("%s has no %s %q", v.Name, m.Name, value))
				}
			}
		}
	}
	return problems
}

// alerts are the rules of Prometheus, which say what to do.
func alerts(t *testing.T) (list []asked) {
	t.Helper()
	groups, errs := rulefmt.ParseFile("../../conf/alerts.yaml", false, model.UTF8Validation, parser.NewParser(parser.Options{}), slog.New(slog.DiscardHandler))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	for _, group := range groups.Groups {
		for _, rule := range group.Rules {
			summary, description := rule.Annotations["summary"], rule.Annotations["description"]
			if rule.Labels["severity"] == "" || summary == "" || len(description) < 100 {
				t.Errorf("%s does not say how bad it is, what it is, or what to do", rule.Alert)
			}
			list = append(list, asked{rule.Alert, rule.Expr, summary + description})
		}
	}
	return list
}

// panels are what Grafana shows.
func panels(t *testing.T) (list []asked) {
	t.Helper()
	b, err := os.ReadFile("../../conf/grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			ID                       int
			Title, Type, Description string
			Targets                  []struct{ Expr, LegendFormat string }
		}
	}
	if err := json.Unmarshal(b, &dashboard); err != nil {
		t.Fatal(err)
	}
	variables := strings.NewReplacer("$__rate_interval", "5m", "$job", ".*", "$instance", ".*")
	ids := map[int]string{}
	for _, p := range dashboard.Panels {
		if other, twice := ids[p.ID]; twice {
			t.Errorf("%s and %s have one id", p.Title, other)
		}
		ids[p.ID] = p.Title
		if p.Type == "row" {
			continue
		}
		if p.Description == "" || len(p.Targets) == 0 {
			t.Errorf("%s shows nothing, or does not say what", p.Title)
		}
		for _, target := range p.Targets {
			list = append(list, asked{p.Title, variables.Replace(target.Expr), target.LegendFormat})
		}
	}
	return list
}
