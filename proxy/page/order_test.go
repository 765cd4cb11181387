package page

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
)

const asJSON = "application/json"

func TestAnOrderComesAsItWasGiven(t *testing.T) {
	for body, want := range map[string]Order{
		`{"order":"free","db":3,"key":"a\\xff\\\\","holder":"h1","reason":" stuck since noon "}`: {Order: FreeLock, DB: 3, Key: "a\xff\\", Holder: "h1", Reason: "stuck since noon"},
		`{"order":"free","db":0,"key":"","reason":"it's über"}`:                                  {Order: FreeLock, Reason: "it's über"},
		`{"order":"drain","master":"a:1","force":true,"reason":"r"}`:                             {Order: DrainMaster, Master: "a:1", Force: true, Reason: "r"},
		` {"reason":"r","master":"a:1","order":"drain"} ` + "\n":                                 {Order: DrainMaster, Master: "a:1", Reason: "r"},
		`{"order":"resume","master":"a:1","reason":"r"}`:                                         {Order: ResumeMaster, Master: "a:1", Reason: "r"},
		`{"order":"admit","master":"a:1","reason":"r"}`:                                          {Order: AdmitMaster, Master: "a:1", Reason: "r"},
	} {
		s := &fakeSource{allowed: true}
		w := asks(newHandler(t, s), "POST", "http://proxy/api/order", body, "Content-Type", asJSON, "Authorization", "Basic YWRhOnNlY3JldA==", "Sec-Fetch-Site", "same-origin")
		if said := fieldsOf(t, w)["said"]; said != "it is done" {
			t.Errorf("%s: said %v", body, said)
		}
		if len(s.orders) != 1 || s.orders[0] != want {
			t.Errorf("%s:\ngot  %+v\nwant %+v", body, s.orders, want)
		}
		if want := (Who{User: "ada", From: "192.0.2.1:1234"}); s.who != want {
			t.Errorf("given by %v, want %v", s.who, want)
		}
	}
}

func TestAnOrderThatIsNotWellFormedIsNotGiven(t *testing.T) {
	s := &fakeSource{allowed: true}
	h := newHandler(t, s)
	for body, words := range map[string]string{
		``:       "an object",
		`null`:   "an object",
		`[]`:     "an object",
		`"free"`: "an object",
		`{`:      "an object",
		`{"order":"drain","master":"a","reason":"r"`:                                         "an object",
		`{"order":"drain","master":"a","reason":"r"}{}`:                                      "follows",
		`{"order":"drain","master":"a","reason":"r"} x`:                                      "follows",
		`{"order":"drain","master":"a","reason":"r","Master":"b"}`:                           `no field "Master"`,
		`{"order":"drain","master":"a","reason":"r","master":"b"}`:                           "master is there twice",
		`{"order":"drain","master":"a","reason":"r","m\u0061ster":"b"}`:                      "master is there twice",
		`{"order":"drain","master":"a","reason":"r","token":"t"}`:                            `no field "token"`,
		`{"order":"drain","master":["a"],"reason":"r"}`:                                      "master is of another type",
		`{"order":"drain","master":null,"reason":"r"}`:                                       "master is of another type",
		`{"order":"drain","master":"a","force":"yes","reason":"r"}`:                          "force is of another type",
		`{"order":"drain","master":"a","reason":}`:                                           "reason",
		`{"order":"drain","reason":"r"}`:                                                     "needs the field master",
		`{"order":"drain","master":"a"}`:                                                     "needs a reason",
		`{"order":"drain","master":"a","reason":"  "}`:                                       "needs a reason",
		`{"order":"drain","master":"a","reason":"r\n2026 all is well"}`:                      "printable line",
		`{"order":"drain","master":"a","reason":"\u202er"}`:                                  "printable line",
		`{"order":"drain","master":"a","reason":"` + strings.Repeat("r", 501):                "reason",
		`{"order":"drain","master":"a","db":0,"reason":"r"}`:                                 "drain has no field db",
		`{"order":"resume","master":"a","force":true,"reason":"r"}`:                          "resume has no field force",
		`{"order":"free","db":0,"key":"a","master":"a","reason":"r"}`:                        "free has no field master",
		`{"order":"free","key":"a","reason":"r"}`:                                            "needs the field db",
		`{"order":"free","db":0,"reason":"r"}`:                                               "needs the field key",
		`{"order":"free","db":-1,"key":"a","reason":"r"}`:                                    "no database -1",
		`{"order":"free","db":0.5,"key":"a","reason":"r"}`:                                   "db is of another type",
		`{"order":"free","db":0,"key":"a\\n","reason":"r"}`:                                  "backslash",
		`{"order":"free","db":0,"key":"` + strings.Repeat("k", MaxKey+1) + `","reason":"r"}`: "4096",
		`{"order":"explode","reason":"r"}`:                                                   `"explode"`,
		`{"reason":"r"}`:                                                                     "one of free",
		"{\"order\":\"drain\",\"master\":\"\xff\",\"reason\":\"r\"}":                         "UTF-8",
	} {
		wantRefused(t, asks(h, "POST", "/api/order", body, "Content-Type", asJSON), 400, words)
	}
	wantRefused(t, asks(h, "POST", "/api/order", `{"order":"drain","master":"a","reason":"`+strings.Repeat("r", MaxReason+1)+`"}`, "Content-Type", asJSON), 400, "500 bytes")
	wantRefused(t, asks(h, "POST", "/api/order", strings.Repeat(" ", maxOrder+1), "Content-Type", asJSON), 413, "long")
	wantRefused(t, asks(h, "POST", "/api/order?force=1", `{}`, "Content-Type", asJSON), 400, "no parameters")
	if s.orders != nil {
		t.Errorf("orders were given: %v", s.orders)
	}
}

// An operator's browser has his password, and sends it whoever's page asks it to.
func TestAnOrderOfAnotherPagesIsNotGiven(t *testing.T) {
	const order = `{"order":"drain","master":"a","reason":"r"}`
	s := &fakeSource{allowed: true}
	h := newHandler(t, s)
	for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonp", ";"} {
		wantRefused(t, asks(h, "POST", "http://proxy/api/order", order, "Content-Type", kind), http.StatusUnsupportedMediaType, asJSON)
	}
	for _, headers := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "http://elsewhere"}, {"Origin", "null"}} {
		wantRefused(t, asks(h, "POST", "http://proxy/api/order", order, append(headers, "Content-Type", asJSON)...), 403, "this page alone")
	}
	if s.orders != nil {
		t.Fatalf("orders were given: %v", s.orders)
	}
	if len(s.forbidden) != 4 || !strings.HasSuffix(s.forbidden[0], ": another site's page asks") {
		t.Errorf("told of are %v", s.forbidden)
	}
	fieldsOf(t, asks(h, "POST", "http://proxy/api/order", order, "Content-Type", asJSON+"; charset=utf-8", "Origin", "http://proxy"))
	if len(s.orders) != 1 {
		t.Error("an order of this page's was not given")
	}
}

func TestOrdersAreForNobodyWhereTheyAreNotAllowed(t *testing.T) {
	s := &fakeSource{}
	h := newHandler(t, s)
	wantRefused(t, asks(h, "POST", "/api/order", `{"order":"drain","master":"a","reason":"r"}`, "Content-Type", asJSON), 403, "may not give this order")
	if len(s.forbidden) != 1 || !strings.HasSuffix(s.forbidden[0], ": no right to it") {
		t.Errorf("told of are %v", s.forbidden)
	}
	if s.orders != nil {
		t.Errorf("orders were given: %v", s.orders)
	}
	if o := fieldsOf(t, asks(h, "GET", "/api/overview", "")); o["orders"] != false {
		t.Errorf("an overview says that orders are allowed: %v", o["orders"])
	}
}

// What breaks a master is an order in a demo, and nowhere else.
func TestMastersAreBrokenInADemoAlone(t *testing.T) {
	for body, want := range map[string]Order{
		`{"order":"kill","master":"a","reason":"r"}`:                          {Order: KillMaster, Master: "a", Reason: "r"},
		`{"order":"start-blank","master":"a","reason":"r"}`:                   {Order: StartBlank, Master: "a", Reason: "r"},
		`{"order":"start-recalled","master":"a","reason":"r"}`:                {Order: StartRecalled, Master: "a", Reason: "r"},
		`{"order":"freeze","master":"a","reason":"r"}`:                        {Order: FreezeMaster, Master: "a", Reason: "r"},
		`{"order":"thaw","master":"a","reason":"r"}`:                          {Order: ThawMaster, Master: "a", Reason: "r"},
		`{"order":"set-clock","master":"a","seconds":-3600,"reason":"r"}`:     {Order: SetClock, Master: "a", Seconds: -3600, Reason: "r"},
		`{"order":"resume","master":"a","reason":"as everywhere, in a demo"}`: {Order: ResumeMaster, Master: "a", Reason: "as everywhere, in a demo"},
	} {
		s := &fakeSource{allowed: true}
		demo := New(Config{Source: s, Demo: true, Log: hclog.NewNullLogger()})
		t.Cleanup(demo.Close)
		fieldsOf(t, asks(demo, "POST", "/api/order", body, "Content-Type", asJSON))
		if len(s.orders) != 1 || s.orders[0] != want || want.Demo() == (want.Order == ResumeMaster) {
			t.Errorf("%s: %+v", body, s.orders)
		}
		if o := fieldsOf(t, asks(demo, "GET", "/api/overview", "")); o["demo"] != true {
			t.Error("the overview of a demo does not say that it is one")
		}
		if !want.Demo() {
			continue
		}
		real := &fakeSource{allowed: true}
		h := newHandler(t, real)
		wantRefused(t, asks(h, "POST", "/api/order", body, "Content-Type", asJSON), 400, "one of free")
		if o := fieldsOf(t, asks(h, "GET", "/api/overview", "")); real.orders != nil || o["demo"] != nil {
			t.Errorf("%s: %v, %v", body, real.orders, o["demo"])
		}
	}
	h := New(Config{Source: &fakeSource{allowed: true}, Demo: true, Log: hclog.NewNullLogger()})
	t.Cleanup(h.Close)
	wantRefused(t, asks(h, "POST", "/api/order", `{"order":"set-clock","master":"a","seconds":90000,"reason":"r"}`, "Content-Type", asJSON), 400, "86400")
	wantRefused(t, asks(h, "POST", "/api/order", `{"order":"set-clock","master":"a","reason":"r"}`, "Content-Type", asJSON), 400, "seconds")
	wantRefused(t, asks(h, "POST", "/api/order", `{"order":"kill","master":"a","seconds":1,"reason":"r"}`, "Content-Type", asJSON), 400, "no field seconds")
}

func TestWhyAnOrderWasNotCarriedOutIsSaid(t *testing.T) {
	s := &fakeSource{allowed: true, err: fmt.Errorf("somebody else holds it by now: %w", ErrNotNow)}
	w := asks(newHandler(t, s), "POST", "/api/order", `{"order":"free","db":0,"key":"a","holder":"h","reason":"r"}`, "Content-Type", asJSON)
	wantRefused(t, w, 409, "somebody else holds it by now")
}

// Whatever is sent: what is taken for an order has what an order needs, and nothing that hides.
func FuzzOrdersAreReadAsTheyAreMeant(f *testing.F) {
	for _, seed := range []string{`{"order":"free","db":3,"key":"a\\xff","holder":"h","reason":"r"}`, `{"order":"drain","master":"a","force":true,"reason":"r"}`, `{"order":"admit"`, `[{}]`, `null`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		o, err := parseOrder(body, false)
		if err != nil {
			return
		}
		aboutMaster := o.Order == DrainMaster || o.Order == ResumeMaster || o.Order == AdmitMaster
		if aboutMaster == (o.Order == FreeLock) || o.Order == FreeLock && (o.Master != "" || o.Force) || aboutMaster && (o.Key != "" || o.Holder != "" || o.DB != 0) || o.Force && o.Order != DrainMaster {
			t.Fatalf("%q is read as %+v", body, o)
		}
		if o.DB < 0 || len(o.Key) > MaxKey || o.Reason == "" || len(o.Reason) > MaxReason || escaped(o.Reason) != strings.ReplaceAll(o.Reason, `\`, `\\`) && !strings.Contains(o.Reason, "  ") {
			t.Fatalf("%q is read as %+v", body, o)
		}
	})
}
