package browser

import (
	"bytes"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
)

var update = flag.Bool("update", false, "have the documents' pictures made anew")

const (
	picturesOfDocuments = "../../proxy/page/pictures"
	mostOfAPicture      = 150_000 // bytes
)

// shown puts a picture of the page, of a real proxy, where documents show it, if that is asked for,
// and holds what is there to what they say.
func (b *tab) shown(name string, width, height int64, dark bool) {
	b.t.Helper()
	b.size(width, height)
	b.dark(dark)
	b.run("document.activeElement.blur(); scrollTo(0, 0)")
	shot, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	must(b.t, err)
	full, err := png.Decode(bytes.NewReader(shot))
	must(b.t, err)
	var out bytes.Buffer
	must(b.t, (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, paletted(full)))
	path := filepath.Join(picturesOfDocuments, name+".png")
	if *update {
		must(b.t, os.MkdirAll(picturesOfDocuments, 0o755))
		must(b.t, os.WriteFile(path, out.Bytes(), 0o644))
	}
	kept, err := os.ReadFile(path)
	must(b.t, err)
	is, err := png.DecodeConfig(bytes.NewReader(kept))
	must(b.t, err)
	if now := full.Bounds(); is.Width != now.Dx() || is.Height != now.Dy() || len(kept) > mostOfAPicture {
		b.t.Errorf("%s is %d by %d, of %d bytes; the page is %d by %d: go test -C integration/browser . -run Pictures -update", path, is.Width, is.Height, len(kept), now.Dx(), now.Dy())
	}
}

// paletted is a picture with the 256 of its colours that it has most of, which is much shorter.
func paletted(full image.Image) *image.Paletted {
	often := make(map[color.RGBA]int)
	at := func(x, y int) color.RGBA { return color.RGBAModel.Convert(full.At(x, y)).(color.RGBA) }
	r := full.Bounds()
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			often[at(x, y)]++
		}
	}
	var all []color.RGBA
	for c := range often {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b color.RGBA) int {
		if often[a] != often[b] {
			return often[b] - often[a]
		}
		return bytes.Compare([]byte{a.R, a.G, a.B}, []byte{b.R, b.G, b.B})
	})
	var few color.Palette
	for _, c := range all[:min(len(all), 256)] {
		few = append(few, c)
	}
	nearest := make(map[color.RGBA]uint8)
	for _, c := range all {
		nearest[c] = uint8(few.Index(c))
	}
	out := image.NewPaletted(r, few)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			out.SetColorIndex(x, y, nearest[at(x, y)])
		}
	}
	return out
}

func TestPicturesOfTheDocumentsAreOfARealProxy(t *testing.T) {
	r, b := newReal(t), newTab(t)
	alice := r.worker("billing-1")
	for i, key := range []string{"orders:0037:settle", "orders:0041:settle", "reports:2026-11", "customers:import", "mail:digest"} {
		r.worker(fmt.Sprintf("worker-%d", i+1)).gets("OK", fmt.Sprintf("SET %s token-%d NX PX %d", key, i, 290000-i*41000))
	}
	alice.gets("OK", "SET stock:17 token-of-alice NX PX 280000")
	b.open(r)
	for _, name := range []string{"billing-2", "billing-3"} {
		w := r.worker(name)
		for range 40 {
			w.gets(nil, "SET stock:17 token-of-"+name+" NX PX 280000")
		}
		w.gets(nil, "SET mail:digest token-of-"+name+" NX PX 280000")
	}
	must(t, r.masters[2].Kill())
	alice.gets("OK", "SET stock:17 token-of-alice IFEQ token-of-alice PX 290000")
	b.has(fmt.Sprintf(card, 3)+".state", "down")
	b.has("#contended", "80 refused, 2 wait")
	b.has("#events li", r.masters[2].Addr+" down")
	b.has("#locks tr", "worker-5")
	b.until("what is there no more is known", `[...document.querySelectorAll("#locks .votes")].every(e => e.getAttribute("aria-label").includes("no answer"))`)
	b.shown("light", 1280, 900, false)
	b.shown("phone", 390, 844, true)
	b.size(1280, 900)
	b.click("#locks button.key", "stock:17")
	b.has("#timeline li", "extended")
	b.has("#timeline li", "refused × 40")
	b.shown("dark", 1280, 900, true)
}
