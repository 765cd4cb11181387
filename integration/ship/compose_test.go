package ship

import (
	"context"
	"encoding/json"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	"sigs.k8s.io/yaml"
)

// compose is conf/compose.yaml as compose itself reads it, which it does strictly.
func compose(t *testing.T) *types.Project {
	t.Helper()
	project, err := loader.LoadWithContext(t.Context(), types.ConfigDetails{
		WorkingDir:  "../../conf",
		ConfigFiles: []types.ConfigFile{{Filename: "../../conf/compose.yaml"}},
		Environment: types.Mapping{},
	})
	must(t, err)
	return project
}

// named are the services whose names begin so.
func named(t *testing.T, p *types.Project, begin string, number int) (list []types.ServiceConfig) {
	t.Helper()
	for _, name := range p.ServiceNames() {
		if strings.HasPrefix(name, begin) {
			list = append(list, p.Services[name])
		}
	}
	if len(list) != number {
		t.Fatalf("%d services are called %s…, want %d", len(list), begin, number)
	}
	return list
}

func environ(s types.ServiceConfig) (list []string) {
	for name, value := range s.Environment {
		list = append(list, name+"="+*value)
	}
	return list
}

func TestComposeHasWhatItNames(t *testing.T) {
	p := compose(t)
	for name, c := range p.Configs {
		if (c.File == "") == (c.Content == "") {
			t.Errorf("the config %s is of no file, and not written down", name)
		}
		if c.File != "" {
			if _, err := os.Stat(c.File); err != nil {
				t.Errorf("the config %s: %v", name, err)
			}
		}
	}
	for _, s := range named(t, p, "proxy-", 2) {
		if _, err := os.Stat(path.Join(s.Build.Context, s.Build.Dockerfile)); err != nil {
			t.Errorf("%s is built of what is not there: %v", s.Name, err)
		}
	}
}

func TestComposeKeepsWithinBounds(t *testing.T) {
	for _, s := range compose(t).Services {
		if s.Restart != "unless-stopped" || s.HealthCheck == nil || s.Deploy.Resources.Limits == nil || s.Deploy.Resources.Limits.MemoryBytes == 0 ||
			!slices.Contains(s.CapDrop, "ALL") || !slices.Contains(s.SecurityOpt, "no-new-privileges:true") || s.Privileged {
			t.Errorf("%s may do more than it has to, or ends for good", s.Name)
		}
		for _, port := range s.Ports {
			if port.HostIP != "127.0.0.1" {
				t.Errorf("%s lets other machines reach its port %d", s.Name, port.Target)
			}
		}
	}
}

// Masters can be reached by proxies alone, each has a disk of its own, and what they answer is on it.
func TestComposeHasDurableMastersForProxiesAlone(t *testing.T) {
	p := compose(t)
	masters, disks := named(t, p, "redis-", 3), map[string]bool{}
	for _, m := range masters {
		if len(m.Networks) != 1 || len(m.Ports) != 0 {
			t.Errorf("%s can be reached by others than proxies", m.Name)
		}
		for network := range m.Networks {
			if !p.Networks[network].Internal {
				t.Errorf("%s is in the network %s, which leads elsewhere", m.Name, network)
			}
		}
		if len(m.Volumes) != 1 || m.Volumes[0].Target != "/data" || m.Volumes[0].Type != "volume" || disks[m.Volumes[0].Source] {
			t.Errorf("%s has no disk of its own: %v", m.Name, m.Volumes)
		}
		disks[m.Volumes[0].Source] = true
	}
	for _, s := range p.Services {
		_, reaches := s.Networks["masters"]
		if reaches && !strings.HasPrefix(s.Name, "redis-") && !strings.HasPrefix(s.Name, "proxy-") {
			t.Errorf("%s can reach masters", s.Name)
		}
	}
	areDurable(t, masters[0].Command, "")
}

func TestComposeTellsProxiesWhatTheyUnderstand(t *testing.T) {
	p := compose(t)
	for _, s := range named(t, p, "proxy-", 2) {
		for _, line := range check(t, environ(s)) {
			t.Errorf("%s: %s", s.Name, line)
		}
		if s.HealthCheck.Test[1] != "/redlock-proxy" || s.StopGracePeriod == nil {
			t.Errorf("%s is asked by %q, or has no time to end", s.Name, s.HealthCheck.Test)
		}
		asked := strings.Split(*s.Environment["REDLOCK_PROXY_MASTER"], ",")
		for _, m := range named(t, p, "redis-", 3) {
			if !slices.Contains(asked, m.Name+":6379") {
				t.Errorf("%s does not ask %s", s.Name, m.Name)
			}
		}
		for _, port := range s.Ports {
			if at := ":" + port.Published; at != ":6390" && at != ":6391" && port.Published != "6380" && port.Published != "6381" {
				t.Errorf("%s is at %s, of which the file's head does not tell", s.Name, at)
			}
		}
	}
}

func TestComposeHasProxiesWatched(t *testing.T) {
	p := compose(t)
	var scraped struct {
		RuleFiles []string `json:"rule_files"`
		Scrapes   []struct {
			Job     string                       `json:"job_name"`
			Statics []struct{ Targets []string } `json:"static_configs"`
		} `json:"scrape_configs"`
	}
	must(t, yaml.Unmarshal([]byte(p.Configs["prometheus"].Content), &scraped))
	job := scraped.Scrapes[0]
	rules, err := os.ReadFile("../../conf/alerts.yaml")
	must(t, err)
	if !strings.Contains(string(rules), `{job="`+job.Job+`"}`) {
		t.Errorf("the job is called %s, for which there is no rule", job.Job)
	}
	for _, s := range named(t, p, "proxy-", 2) {
		_, port, _ := strings.Cut(*s.Environment["REDLOCK_PROXY_ADMIN_LISTEN"], ":")
		_, there := s.Networks["watch"]
		if !there || !slices.Contains(job.Statics[0].Targets, s.Name+":"+port) || !slices.Contains(strings.Split(*s.Environment["REDLOCK_PROXY_ADMIN_HOST"], ","), s.Name) {
			t.Errorf("%s is not watched, or does not answer by that name", s.Name)
		}
	}
	prometheus, grafana := p.Services["prometheus"], p.Services["grafana"]
	mounted := func(s types.ServiceConfig, source string) string {
		for _, c := range s.Configs {
			if c.Source == source {
				return c.Target
			}
		}
		t.Errorf("%s does not have %s", s.Name, source)
		return ""
	}
	if at := mounted(prometheus, "alerts"); at != path.Join(path.Dir(mounted(prometheus, "prometheus")), scraped.RuleFiles[0]) {
		t.Errorf("the rules are at %s, and looked for at %s", at, scraped.RuleFiles[0])
	}
	var provided struct {
		Providers []struct{ Options struct{ Path string } }
	}
	must(t, yaml.Unmarshal([]byte(p.Configs["dashboards"].Content), &provided))
	board := mounted(grafana, "grafana")
	if path.Dir(board) != provided.Providers[0].Options.Path || board != *grafana.Environment["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"] {
		t.Errorf("the dashboard is at %s, and looked for elsewhere", board)
	}
	var sources struct {
		Datasources []struct{ Type, URL string }
	}
	must(t, yaml.Unmarshal([]byte(p.Configs["datasources"].Content), &sources))
	if source := sources.Datasources[0]; source.Type != "prometheus" || source.URL != "http://prometheus:9090" {
		t.Errorf("the dashboard asks %+v", source)
	}
	b, err := os.ReadFile(p.Configs["grafana"].File)
	must(t, err)
	if !json.Valid(b) {
		t.Error("the dashboard is no JSON")
	}
}

// What compose would not read is found.
func TestMistakesInComposeAreFound(t *testing.T) {
	b, err := os.ReadFile("../../conf/compose.yaml")
	must(t, err)
	for wrong, right := range map[string]string{
		"networks: [master]": "networks: [masters]", "restarts: unless": "restart: unless", "redis-4:/data": "redis-3:/data",
		"source: alert,": "source: alerts,", "memory: half": "memory: 512M",
	} {
		text := strings.ReplaceAll(string(b), right, wrong)
		_, err := loader.LoadWithContext(context.Background(), types.ConfigDetails{
			WorkingDir: "../../conf", ConfigFiles: []types.ConfigFile{{Filename: "compose.yaml", Content: []byte(text)}}, Environment: types.Mapping{},
		})
		if err == nil || text == string(b) {
			t.Errorf("%q instead of %q is not found", wrong, right)
		}
	}
}
