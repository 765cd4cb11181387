package main

import (
	"errors"
	"fmt"

	"redlock-proxy/integration"
)

// tlsTrial: one proxy, with a listener of each kind. The handshakes of the
// clients are part of a turn.
func tlsTrial(b *bench, r *report) (err error) {
	certificates, err := integration.NewCertificates(b.dir)
	if err != nil {
		return err
	}
	port, err := integration.FreePort()
	if err != nil {
		return err
	}
	secured := fmt.Sprintf("127.0.0.1:%d", port)
	h, err := b.house(plan{masters: b.masters, args: []string{
		"--tls-listen", secured, "--tls-cert-file", certificates.ServerCert, "--tls-key-file", certificates.ServerKey,
		"--tls-ca-cert-file", certificates.CA}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	f := &flood{shape: shape{50, 16}, command: acquire}
	plain := h.through(f.at(h.proxy.Addr))
	tls := h.through(f.at(secured, "--tls", "--cacert", certificates.CA, "--cert", certificates.ClientCert, "--key", certificates.ClientKey))
	plain.name, tls.name = "proxy, plain", "proxy, TLS"
	plain.prepare, tls.prepare = h.blank, h.blank
	if err := b.turns(plain, tls); err != nil {
		return err
	}
	r.add(line{"tls", "`SET NX PX` over TLS beside plain, c50 P16", b.goal(.5, .7), tls.beside(plain, throughput), ""})
	r.addFigures("tls", plain, tls)
	return nil
}
