package quorum

// Colleague is who answers for this proxy what other proxies of the same masters ask it. Who can
// publish at the masters themselves can ask as well.
type Colleague interface {
	// Asked is what a question is answered with; "" is no answer, as is what is longer than
	// MaxQuestion. It is called by one goroutine at a time, and must not block, or others wait
	// for their answers.
	Asked(question string) (answer string)
}

// Answer is what another proxy has answered.
type Answer struct {
	Proxy string // the random name that it gave itself at its start
	Text  string
}

// MaxQuestion bounds a question, and an answer, in bytes.
const MaxQuestion = 64 << 10
