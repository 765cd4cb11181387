package lua

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"
)

// FuzzRead looks for texts that take Read down, or whose print is no Lua, or says what it
// may not. Another parser has the second opinion.
func FuzzRead(f *testing.F) {
	for _, text := range slices.Concat(oddities, attacks(f), lockScripts(f)) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { checkPrint(t, text) })
}

// TestWhatIsPrintedNamesNothingElse is FuzzRead over programs.
func TestWhatIsPrintedNamesNothingElse(t *testing.T) {
	random := rand.New(rand.NewPCG(*seed, 2))
	for range *programs {
		if text := writeProgram(random); !checkPrint(t, text) {
			t.Fatalf("not read:\n%s", text)
		}
	}
}

func checkPrint(t *testing.T, text string) bool {
	p, err := Read(text)
	if err != nil {
		if refused, ok := err.(*Error); !ok || refused.Line < 1 || strings.ContainsAny(refused.Text, "\r\n") {
			t.Fatalf("%#v", err)
		}
		return false
	}
	tokens, err := Lex(text)
	if err != nil {
		t.Fatal(err)
	}
	printed, err := Lex(p.Body)
	if err != nil && err.(*Error).Text != textTooLong && err.(*Error).Text != tooManyTokens {
		t.Fatalf("%v\n%s\n%s", err, text, p.Body)
	}
	if err == nil {
		checkLines(t, tokens, printed, text, p.Body)
	}
	for i := range len(p.Body) {
		if c := p.Body[i]; (c < ' ' && c != '\n') || c > '~' {
			t.Fatalf("byte %d in\n%s", c, p.Body)
		}
	}
	// What the other parser does not take, or takes for something else.
	for _, token := range tokens {
		if token.Text == "goto" && token.Kind == Name {
			return true
		}
	}
	statements, err := parse.Parse(strings.NewReader(p.Body), "")
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, text, p.Body)
	}
	w := walker{}
	w.block(statements)
	for name := range w.free {
		if !slices.Contains([]string{"KEYS", "ARGV", "__h", "__t", "__x"}, name) {
			t.Errorf("%s is free in\n%s", name, p.Body)
		}
	}
	for name := range w.helpers {
		if _, in := slices.BinarySearch(p.Helpers, name); !in && hasHelper(name) {
			t.Errorf("the helper %s is not listed of\n%s", name, p.Body)
		}
	}
	for _, name := range p.Helpers {
		if !w.helpers[name] && !w.targets {
			t.Errorf("the helper %s is listed of\n%s", name, p.Body)
		}
	}
	return true
}

func hasHelper(name string) bool {
	lib, member, isMember := strings.Cut(name, "_")
	return !isMember || libraries[lib].known[member]
}

// checkLines holds that each name, string and number is on its line, and that nothing
// else is but guards.
func checkLines(t *testing.T, tokens, printed []Token, text, body string) {
	where := func(tokens []Token) map[string]int {
		lines := map[string]int{}
		for _, token := range tokens {
			if token.Kind == String || token.Kind == Number || token.Kind == Name && !globals[token.Text] && libraries[token.Text].known == nil {
				lines[fmt.Sprint(token.Line, " ", token.Text)]++
			}
		}
		return lines
	}
	there := where(printed)
	for at := range where(tokens) {
		if _, name, _ := strings.Cut(at, " "); there[at] == 0 && !strings.Contains(body, "__h.setglobal") && !ofLibrary(tokens, name) {
			t.Fatalf("%s is not where it was:\n%s\n%s", at, text, body)
		}
	}
}

// ofLibrary tells whether a name or string is what a library is asked for.
func ofLibrary(tokens []Token, name string) bool {
	for i, token := range tokens {
		if i > 1 && token.Text == name && libraries[tokens[i-2].Text].known != nil {
			return true
		}
	}
	return false
}

// walker finds the names that are free in a program, and the helpers that it names.
type walker struct {
	scopes  []map[string]bool
	free    map[string]bool
	helpers map[string]bool
	targets bool // some may have been lost with the targets of an assignment to a global
}

func (w *walker) declare(names ...string) {
	for _, name := range names {
		w.scopes[len(w.scopes)-1][name] = true
	}
}

func (w *walker) inside(walk func()) {
	if w.free == nil {
		w.free, w.helpers = map[string]bool{}, map[string]bool{}
	}
	w.scopes = append(w.scopes, map[string]bool{})
	walk()
	w.scopes = w.scopes[:len(w.scopes)-1]
}

func (w *walker) block(statements []ast.Stmt) {
	w.inside(func() { w.statements(statements) })
}

func (w *walker) statements(statements []ast.Stmt) {
	for _, s := range statements {
		w.statement(s)
	}
}

func (w *walker) statement(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.AssignStmt:
		w.all(s.Lhs)
		w.all(s.Rhs)
	case *ast.LocalAssignStmt:
		if len(s.Exprs) == 1 && len(s.Names) == 1 {
			if f, ok := s.Exprs[0].(*ast.FunctionExpr); ok {
				w.declare(s.Names[0]) // local f = function and local function f are one tree
				w.expr(f)
				return
			}
		}
		w.all(s.Exprs)
		w.declare(s.Names...)
	case *ast.FuncCallStmt:
		w.expr(s.Expr)
	case *ast.DoBlockStmt:
		w.block(s.Stmts)
	case *ast.WhileStmt:
		w.expr(s.Condition)
		w.block(s.Stmts)
	case *ast.RepeatStmt:
		w.inside(func() {
			w.statements(s.Stmts)
			w.expr(s.Condition)
		})
	case *ast.IfStmt:
		w.expr(s.Condition)
		w.block(s.Then)
		w.block(s.Else)
	case *ast.NumberForStmt:
		w.all([]ast.Expr{s.Init, s.Limit})
		if s.Step != nil {
			w.expr(s.Step)
		}
		w.inside(func() {
			w.declare(s.Name)
			w.block(s.Stmts)
		})
	case *ast.GenericForStmt:
		w.all(s.Exprs)
		w.inside(func() {
			w.declare(s.Names...)
			w.block(s.Stmts)
		})
	case *ast.FuncDefStmt:
		w.expr(s.Name.Func)
		w.expr(s.Func)
	case *ast.ReturnStmt:
		w.all(s.Exprs)
	case *ast.BreakStmt:
	default:
		panic(fmt.Sprintf("%T", s))
	}
}

func (w *walker) all(list []ast.Expr) {
	for _, e := range list {
		w.expr(e)
	}
}

func (w *walker) expr(e ast.Expr) {
	switch e := e.(type) {
	case *ast.IdentExpr:
		for _, scope := range w.scopes {
			if scope[e.Value] {
				return
			}
		}
		w.free[e.Value] = true
	case *ast.AttrGetExpr:
		if of, ok := e.Object.(*ast.IdentExpr); ok && of.Value == "__h" {
			name := e.Key.(*ast.StringExpr).Value
			w.helpers[name] = true
			w.targets = w.targets || name == "setglobal"
		}
		w.all([]ast.Expr{e.Object, e.Key})
	case *ast.TableExpr:
		for _, field := range e.Fields {
			if field.Key != nil {
				w.expr(field.Key)
			}
			w.expr(field.Value)
		}
	case *ast.FuncCallExpr:
		if e.Receiver != nil {
			panic("a method is called")
		}
		w.expr(e.Func)
		w.all(e.Args)
	case *ast.LogicalOpExpr:
		w.all([]ast.Expr{e.Lhs, e.Rhs})
	case *ast.RelationalOpExpr:
		w.all([]ast.Expr{e.Lhs, e.Rhs})
	case *ast.ArithmeticOpExpr:
		w.all([]ast.Expr{e.Lhs, e.Rhs})
	case *ast.StringConcatOpExpr:
		panic("strings are concatenated")
	case *ast.UnaryMinusOpExpr:
		w.expr(e.Expr)
	case *ast.UnaryNotOpExpr:
		w.expr(e.Expr)
	case *ast.UnaryLenOpExpr:
		w.expr(e.Expr)
	case *ast.FunctionExpr:
		w.inside(func() {
			w.declare(e.ParList.Names...)
			if e.ParList.HasVargs {
				w.declare("arg")
			}
			w.block(e.Stmts)
		})
	case *ast.TrueExpr, *ast.FalseExpr, *ast.NilExpr, *ast.NumberExpr, *ast.StringExpr, *ast.Comma3Expr:
	default:
		panic(fmt.Sprintf("%T", e))
	}
}
