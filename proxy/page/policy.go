package page

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"net/http"
)

// html is all of the page: it loads nothing.
//
//go:embed page.html
var html []byte

// Policy is the page's Content-Security-Policy. Of scripts and styles it allows the two that stand
// in it, by their hashes, so that nothing runs that anybody has put into a key or a name; and
// it lets no text become a part of the page but as text. The handler sends it by itself.
var Policy = "default-src 'none'" +
	"; script-src " + hashOf(html, "script") +
	"; style-src " + hashOf(html, "style") +
	"; connect-src 'self'; img-src data:" + // the icon
	"; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// hashOf what stands in the page's only element of that name.
func hashOf(page []byte, element string) string {
	_, rest, opened := bytes.Cut(page, []byte("<"+element+">"))
	text, after, closed := bytes.Cut(rest, []byte("</"+element+">"))
	if !opened || !closed || bytes.Contains(after, []byte("<"+element)) {
		panic("the page has not one element " + element)
	}
	sum := sha256.Sum256(text)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

func (h *Handler) page(w http.ResponseWriter, r *http.Request) {
	if r.URL.RawQuery != "" {
		refuse(w, http.StatusBadRequest, "the page has no parameters in its address")
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", Policy)
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Write(html)
}
