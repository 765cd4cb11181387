package admin

import (
	"context"
	"crypto/tls"
	"errors"
	"log"
	"net"
	"net/http"

	"github.com/hashicorp/go-hclog"
)

// Server answers who watches the proxy.
type Server struct {
	cfg    Config
	log    hclog.Logger
	http   http.Server
	cancel context.CancelFunc // of all requests
}

// New makes a server that tells of source, and does not own it.
func New(cfg Config, source Source, log hclog.Logger) *Server {
	s := &Server{cfg: cfg, log: log}
	mux := http.NewServeMux()
	for pattern, h := range cfg.Handlers {
		mux.Handle(pattern, h)
	}
	mountState(mux, source)
	mountMetrics(mux, source, log)
	mountProfiles(mux)
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	s.http = http.Server{
		Handler:           s.answering(newGuard(cfg, source, mux)),
		Protocols:         &protocols,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ConnContext:       withConnection,
		ErrorLog:          plainLog(log, hclog.Debug), // what others do wrong: bad handshakes and requests
	}
	return s
}

// plainLog is log for those who know package log alone.
func plainLog(l hclog.Logger, level hclog.Level) *log.Logger {
	return l.Named("admin").StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: level})
}

// Serve answers on ln until Shutdown, and then returns nil. It closes ln.
func (s *Server) Serve(ln net.Listener) error {
	ln = newConnections(ln, MaxConnections)
	if s.cfg.TLS != nil {
		ln = tls.NewListener(ln, &tls.Config{
			GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return s.cfg.TLS(), nil },
		})
	}
	if err := s.http.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Shutdown ends the server: requests that are being answered have a second to come to an end,
// or until ctx does, and are cut off then.
func (s *Server) Shutdown(ctx context.Context) {
	s.cancel()
	ctx, cancel := context.WithTimeout(ctx, graceTimeout)
	defer cancel()
	if s.http.Shutdown(ctx) != nil {
		s.http.Close()
	}
}

// answering bounds what a request may cost, and ends one that panics by itself.
func (s *Server) answering(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			trouble := recover()
			if trouble == nil {
				return
			}
			if trouble != http.ErrAbortHandler {
				s.log.Error("an admin request is cut off, as it could not be answered", "path", r.URL.Path, "panic", trouble)
			}
			panic(http.ErrAbortHandler)
		}()
		writeWithin(w, writeTimeout)
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		h.ServeHTTP(w, r)
	})
}
