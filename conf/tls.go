package conf

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"time"
)

const fileCure = "correct the path, or make the file readable for the user that the proxy runs as"

// suites are those of TLS 1.2 that are used: with forward secrecy, and without CBC, whose
// padding has been an oracle time and again. TLS 1.3 has no others.
var suites = []uint16{
	tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
	tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
	tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
	tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
	tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
	tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
}

// serverTLS builds what clients meet, or nil without a TLS listener.
func (c *Config) serverTLS(problems *Problems) *tls.Config {
	if len(c.TLSListen) == 0 && c.AdminTLS == "no" {
		for _, name := range []string{"tls-cert-file", "tls-key-file", "tls-ca-cert-file", "tls-auth-clients"} {
			if c.given(name) {
				problems.add(c.where(name), "there is no TLS listener that would use it", "name one in tls-listen, or set admin-tls yes, or leave it out")
			}
		}
		return nil
	}
	cfg := &tls.Config{MinVersion: tls.VersionTLS12, CipherSuites: suites}
	if c.TLSCertFile == "" && c.TLSKeyFile == "" {
		listener := "tls-listen"
		if len(c.TLSListen) == 0 {
			listener = "admin-tls"
		}
		problems.add(c.where(listener), "there is no certificate", "name one in tls-cert-file, and its key in tls-key-file")
	} else if cert := c.certificate("tls-cert-file", c.TLSCertFile, "tls-key-file", c.TLSKeyFile, problems); cert != nil {
		cfg.Certificates = []tls.Certificate{*cert}
	}
	switch c.TLSAuthClients {
	case "yes":
		cfg.ClientAuth = tls.RequireAndVerifyClientCert
	case "optional":
		cfg.ClientAuth = tls.VerifyClientCertIfGiven
	}
	if c.TLSCACertFile != "" {
		cfg.ClientCAs = c.authorities("tls-ca-cert-file", c.TLSCACertFile, problems)
	} else if cfg.ClientAuth != tls.NoClientCert {
		problems.add(c.where("tls-auth-clients"), "client certificates are checked, but no CA is named that signs them",
			"name it in tls-ca-cert-file, or set tls-auth-clients no")
	}
	return cfg
}

// masterTLS builds what rediss:// masters meet, or nil if there is none.
func (c *Config) masterTLS(problems *Problems) *tls.Config {
	used := false
	for _, m := range slices.Concat(c.Masters, c.OldMasters) {
		used = used || m.TLS
	}
	if !used {
		for _, name := range []string{"master-tls-cert-file", "master-tls-key-file", "master-tls-ca-cert-file", "master-tls-server-name"} {
			if c.given(name) {
				problems.add(c.where(name), "there is no master that would use it", "write masters with TLS as rediss://host:port, or leave it out")
			}
		}
		return nil
	}
	cfg := &tls.Config{MinVersion: tls.VersionTLS12, CipherSuites: suites, ServerName: c.MasterTLSServerName}
	if c.MasterTLSCertFile != "" || c.MasterTLSKeyFile != "" {
		if cert := c.certificate("master-tls-cert-file", c.MasterTLSCertFile, "master-tls-key-file", c.MasterTLSKeyFile, problems); cert != nil {
			cfg.Certificates = []tls.Certificate{*cert}
		}
	}
	if c.MasterTLSCACertFile != "" {
		cfg.RootCAs = c.authorities("master-tls-ca-cert-file", c.MasterTLSCACertFile, problems)
	}
	return cfg
}

// certificate loads a certificate with its key, or says why it cannot.
func (c *Config) certificate(certName, certPath, keyName, keyPath string, problems *Problems) *tls.Certificate {
	if certPath == "" {
		problems.add(c.where(keyName), "there is a key but no certificate", "name it in "+certName)
		return nil
	}
	if keyPath == "" {
		problems.add(c.where(certName), "there is a certificate but no key", "name it in "+keyName)
		return nil
	}
	certPEM, certErr := c.readFor(certName, certPath, maxFile)
	if certErr != nil {
		problems.add(c.where(certName), certErr.Error(), fileCure)
	}
	keyPEM, keyErr := c.readFor(keyName, keyPath, maxFile)
	if keyErr != nil {
		problems.add(c.where(keyName), keyErr.Error(), fileCure)
	}
	if errors.Join(certErr, keyErr) != nil {
		return nil
	}
	c.warnIfShown(keyName, keyPath, "a private key")
	cert, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		problems.add(c.where(certName), fmt.Sprintf("%s with %s: %v", certPath, keyPath, err),
			"name a certificate and the key that belongs to it, both in PEM and not encrypted")
		return nil
	}
	if now := time.Now(); now.After(cert.Leaf.NotAfter) || now.Before(cert.Leaf.NotBefore) {
		c.warn("%s: the certificate in %s is valid from %s to %s, which is not now; others will refuse it",
			certName, certPath, cert.Leaf.NotBefore.UTC().Format(time.RFC3339), cert.Leaf.NotAfter.UTC().Format(time.RFC3339))
	}
	return &cert
}

// authorities loads the CAs of one file.
func (c *Config) authorities(name, path string, problems *Problems) *x509.CertPool {
	pem, err := c.readFor(name, path, maxFile)
	if err != nil {
		problems.add(c.where(name), err.Error(), fileCure)
		return nil
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		problems.add(c.where(name), "there is no certificate in "+path, "name a file with CA certificates in PEM")
		return nil
	}
	return pool
}
